// What an MCP server offers beside its tools: the jobs of the token as resources, and prompts that use the tools well.
// Promise: a token sees its own jobs only; resources tell of jobs, never of what pages say.
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { App } from '../app.js';
import { ApiError } from '../errors.js';
import type { Token } from '../http/tokens.js';
import type { Job } from '../jobs/store.js';

const JOBS = 'orcrawl://jobs';
const TYPE = 'application/json';
/** Newest first. */
const MAX_JOBS = 200;

export function addOffers(server: McpServer, app: App, token: Token): void {
  const jobs = async (): Promise<Job[]> =>
    (await app.store.list())
      .filter(({ owner }) => owner === token.name)
      .slice(-MAX_JOBS)
      .reverse();

  server.registerResource(
    'jobs',
    JOBS,
    { title: 'Crawls and batches', description: 'Jobs that were started with this token', mimeType: TYPE },
    async (uri) => ({
      contents: [{ uri: uri.href, mimeType: TYPE, text: JSON.stringify((await jobs()).map(factsOf)) }],
    }),
  );

  server.registerResource(
    'job',
    new ResourceTemplate(`${JOBS}/{id}`, {
      list: undefined,
      complete: {
        id: async (typed) => (await jobs()).map(({ id }) => id).filter((id) => id.startsWith(typed)),
      },
    }),
    { title: 'One crawl or batch', description: 'Its state and counts; crawl_status reads its pages', mimeType: TYPE },
    async (uri, { id }) => {
      const job = (await jobs()).find((one) => one.id === id);
      if (!job) throw new ApiError(404, 'There is no such job. It may have expired.', 'JOB_NOT_FOUND');
      return { contents: [{ uri: uri.href, mimeType: TYPE, text: JSON.stringify(factsOf(job)) }] };
    },
  );

  server.registerPrompt(
    'answer_from_site',
    {
      title: 'Answer a question from a site',
      description: 'Finds the pages of a site about a question, reads them, and answers with their addresses.',
      argsSchema: z.object({
        url: z.string().max(8_192).describe('The site'),
        question: z.string().max(2_000).describe('What you want to know'),
      }),
    },
    ({ url, question }) =>
      said(
        `Answer this question from the site ${url}: ${question}\n` +
          'First call the tool "map" with the words of the question as `search`. Read the best matches with "scrape". ' +
          'Answer from what they say, name the URL behind each fact, and say so when the site does not tell.',
      ),
  );

  server.registerPrompt(
    'summarise_page',
    {
      title: 'Summarise a page',
      description: 'Reads one page and summarises it.',
      argsSchema: z.object({ url: z.string().max(8_192).describe('The page') }),
    },
    ({ url }) => said(`Read ${url} with the tool "scrape", all of its parts, and summarise it in one short paragraph.`),
  );
}

const said = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
});

function factsOf({ id, kind, url, status, total, completed, failed, createdAtMs }: Job): Record<string, unknown> {
  return { id, kind, url, status, total, completed, failed, createdAt: new Date(createdAtMs).toISOString() };
}
