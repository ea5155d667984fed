// Markdown where a site offers it: asked for, read as the page it stands for, and its links followed, in every placement.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CheerioCrawler } from '../../src/index.js';
import { findPage } from '../../src/store/content/reading.js';
import { memoryConfig, silent, temporaryFolder } from '../support/crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { serveSite, type Site } from '../support/site.js';
import { MAIN, startNode } from './cli-process.js';

/** Two pages, as markdown for who prefers it; a third that has HTML alone. */
async function markdownSite(): Promise<Site & { readonly accepted: (string | undefined)[] }> {
  const accepted: (string | undefined)[] = [];
  const page =
    (markdown: string, html: string) =>
    (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => {
      accepted.push(request.headers.accept);
      const isMarkdown = markdown !== '' && (request.headers.accept?.startsWith('text/markdown') ?? false);
      response.writeHead(200, { 'content-type': isMarkdown ? 'text/markdown' : 'text/html', vary: 'accept' });
      response.end(isMarkdown ? markdown : html);
    };
  const site = await serveSite({
    '/': page('# Orcas\n\nThey hunt in **pods**, says the [next page](/next).', '<h1>HTML</h1>'),
    '/next': page('# Prey\n\nFish and seals: [more](/plain).', '<h1>HTML</h1>'),
    '/plain': page('', '<title>Plain</title><h1>Plain</h1><p>This page has no markdown.'),
  });
  onTestFinished(() => site.close());
  return Object.assign(site, { accepted });
}

it('in a script', async () => {
  const site = await markdownSite();
  const seen: Record<string, unknown> = {};
  const crawler = new CheerioCrawler(
    {
      acceptMarkdown: true,
      log: silent,
      async requestHandler({ request, content, $, document, enqueueLinks }) {
        seen[new URL(request.url).pathname] = [$('h1').text(), content.markdown(), document?.format];
        await enqueueLinks();
      },
    },
    memoryConfig(),
  );
  const stats = await crawler.run([site.url]);
  expect(stats.requestsFailed).toBe(0);
  expect(seen).toEqual({
    '/': ['Orcas', `# Orcas\n\nThey hunt in **pods**, says the [next page](${site.url}/next).`, 'markdown'],
    '/next': ['Prey', `# Prey\n\nFish and seals: [more](${site.url}/plain).`, 'markdown'],
    '/plain': ['Plain', '# Plain\n\nThis page has no markdown.', undefined],
  });
  expect(new Set(site.accepted)).toEqual(
    new Set(['text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,*/*;q=0.7']),
  );
});

it('in `orcrawl crawl`', async () => {
  const site = await markdownSite();
  const cwd = await temporaryFolder();
  const flags = ['--accept-markdown', '--format', 'markdown', '--out', 'out', '--delay', '0', '--quiet'];
  const { code, stderr } = await startNode([MAIN, 'crawl', `${site.url}/`, ...flags], { cwd }).ended;
  expect([code, stderr]).toEqual([0, '']);
  const text = await readFile(path.join(cwd, 'out', 'pages.md'), 'utf8');
  for (const part of ['They hunt in **pods**', 'Fish and seals', 'no markdown']) expect(text).toContain(part);
});

it('on pods', async () => {
  const site = await markdownSite();
  const { run, dataDirs } = await podsTrial({ seeds: [`${site.url}/`], more: ['accept_markdown: true'] });
  const { code, stdout } = await run().ended;
  expect([code, lastLine(stdout)]).toEqual([0, '3 pages: nothing is left to crawl']);
  expect((await findPage(dataDirs, `${site.url}/next`, { having: 'text' }))?.text).toContain('Fish and seals');
});
