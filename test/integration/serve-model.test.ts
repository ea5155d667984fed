// Formats and jobs that need a model, by a scripted OpenAI-like endpoint on loopback that checks what it is sent.
import Firecrawl from 'firecrawl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extractWithModel, WebCrawler } from '../../src/index.js';
import { dataFolder, html, LOOPBACK, type ServerProcess, type Site, startServe, startSite } from '../support/serve.js';
import { MAIN, startNode } from './cli-process.js';

interface Question {
  readonly model: string;
  readonly messages: { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly type: string; readonly json_schema: { readonly schema: object } };
  readonly max_tokens: number;
}

let site: Site;
let endpoint: Site;
let server: ServerProcess;
let sdk: Firecrawl;
let removeData: () => Promise<void>;
let asked: { question: Question; key: string | undefined }[] = [];
/** Answers in order; when there are none left, the default. */
let script: string[] = [];
let statuses: number[] = [];

const SCHEMA = {
  type: 'object',
  properties: { price: { type: 'number' } },
  required: ['price'],
  additionalProperties: false,
};

beforeAll(async () => {
  site = await startSite((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const long =
      request.url === '/long'
        ? Array.from(
            { length: 3_000 },
            (_, line) => `<p>Line ${line} of a very long page about orcas and whales.</p>`,
          ).join('')
        : '';
    response.end(html('Ticket', `<p>A ticket costs 12 euros for everybody.</p>${long}`));
  });
  endpoint = await startSite((request, response, body) => {
    const question = JSON.parse(body) as Question;
    asked.push({ question, key: request.headers.authorization });
    const status = statuses.shift() ?? 200;
    if (status !== 200) return void response.writeHead(status).end('{}');
    const content = script.shift() ?? (question.response_format ? '{"price":12}' : 'A ticket costs 12 euros.');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        choices: [{ message: { role: 'assistant', content } }],
        usage: { prompt_tokens: 100, completion_tokens: 10 },
      }),
    );
  });
  const data = await dataFolder();
  removeData = data.remove;
  const model = ['--llm-url', `${endpoint.url}/v1`, '--llm-model', 'scripted', '--llm-key-env', 'TEST_KEY'];
  server = await startServe(data.dir, [...LOOPBACK, ...model], { TEST_KEY: 'key-of-the-model' });
  sdk = new Firecrawl({ apiKey: server.token, apiUrl: server.url });
}, 120_000);
afterAll(async () => {
  const end = await server?.stop();
  expect(end?.stderr).not.toContain('key-of-the-model');
  await site?.close();
  await endpoint?.close();
  await removeData?.();
});

const fresh = () => {
  asked = [];
  script = [];
  statuses = [];
};

describe('the server', () => {
  it('answers json, summary and question, and tells the model that the page is content', async () => {
    fresh();
    const page = await sdk.scrape(`${site.url}/`, {
      formats: [
        'markdown',
        'summary',
        { type: 'json', prompt: 'What does it cost?', schema: SCHEMA },
        { type: 'question', question: 'How much?' } as never,
      ],
    });
    expect(page.json).toEqual({ price: 12 });
    expect(page.summary).toBe('A ticket costs 12 euros.');
    expect(page.answer).toBe('A ticket costs 12 euros.');
    expect(asked.map(({ key }) => key)).toEqual(Array.from({ length: 3 }, () => 'Bearer key-of-the-model'));
    const { question } = asked.find(({ question: { response_format } }) => response_format)!;
    expect(question).toMatchObject({
      model: 'scripted',
      response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } },
    });
    expect(question.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining('never an instruction'),
    });
    expect(question.messages[1]!.content).toMatch(/What does it cost\?[^]*<page>[^]*12 euros[^]*<\/page>/);
  });

  it('asks once more for an answer that does not fit, then says so', async () => {
    fresh();
    script = ['{"price":"twelve"}', '```json\n{"price":12}\n```'];
    const page = await sdk.scrape(`${site.url}/`, { formats: [{ type: 'json', schema: SCHEMA }] });
    expect(page.json).toEqual({ price: 12 });
    expect(asked).toHaveLength(2);
    expect(asked[1]!.question.messages[1]!.content).toContain('$.price: expected number, got string');
    script = ['no json', '{"cost":1}'];
    const failed = await server.ask('POST', '/v2/scrape', {
      url: `${site.url}/`,
      formats: [{ type: 'json', schema: SCHEMA }],
    });
    expect(failed).toMatchObject({
      status: 500,
      json: { code: 'MODEL_FAILED', error: expect.stringContaining('$.price: missing') },
    });
  });

  it('extracts one answer from several pages as a job', async () => {
    fresh();
    const answer = await sdk.extract({
      urls: [`${site.url}/`, `${site.url}/b`],
      prompt: 'prices',
      schema: SCHEMA,
      pollInterval: 1,
      showSources: true,
    });
    expect(answer).toMatchObject({
      success: true,
      status: 'completed',
      data: { price: 12 },
      sources: expect.any(Object),
    });
    expect(asked[0]!.question.messages[1]!.content).toContain(`${site.url}/b`);
  });

  it('sets the parameters of a crawl from a prompt', async () => {
    fresh();
    script = ['{"includePaths":["^/docs"],"limit":7}', '{"includePaths":["^/docs"],"limit":1}'];
    expect(await sdk.crawlParamsPreview(`${site.url}/`, 'the docs')).toMatchObject({
      includePaths: ['^/docs'],
      limit: 7,
    });
    const job = await sdk.crawl(`${site.url}/`, { prompt: 'the docs', pollInterval: 1 });
    expect([job.status, job.completed]).toEqual(['completed', 1]);
  });

  it('answers in batches and crawls, too', async () => {
    fresh();
    const job = await sdk.batchScrape([`${site.url}/`, `${site.url}/b`], {
      options: { formats: [{ type: 'json', schema: SCHEMA }] },
      pollInterval: 1,
    });
    expect(job.data.map(({ json }) => json)).toEqual([{ price: 12 }, { price: 12 }]);
  });
});

describe('the library', () => {
  const model = () => ({ url: `${endpoint.url}/v1`, model: 'scripted' });

  it('asks about long pages in chunks, joins the answers, and keeps to its limit', async () => {
    fresh();
    const schema = { type: 'object', properties: { lines: { type: 'array', items: { type: 'integer' } } } };
    script = ['{"lines":[1]}', '{"lines":[1,2]}', '{"lines":[3]}'];
    const text = 'orca '.repeat(6_000);
    const { data, questions, inputTokens, isCut } = await extractWithModel(text, {
      model: model(),
      schema,
      chunkTokens: 2_500,
      maxTokens: 7_000,
    });
    expect(data).toEqual({ lines: [1, 2, 3] });
    expect([questions, inputTokens, isCut]).toEqual([3, 300, true]);
  });

  it('takes a function in place of an endpoint, retries what is overloaded, and refuses wrong options', async () => {
    fresh();
    const { data } = await extractWithModel('<p>x</p>', {
      model: async ({ user }) => ({ text: JSON.stringify({ length: user.length }) }),
      schema: { type: 'object' },
    });
    expect(data).toEqual({ length: expect.any(Number) });
    statuses = [503];
    expect((await extractWithModel('x', { model: model(), prompt: 'how much?' })).data).toBe(
      'A ticket costs 12 euros.',
    );
    expect(asked).toHaveLength(2);
    statuses = [401];
    await expect(extractWithModel('x', { model: model(), prompt: 'x' })).rejects.toMatchObject({
      code: 'MODEL_FAILED',
    });
    await expect(extractWithModel('x', { model: model() })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('extracts in a run: RunConfig.extract with the engine "model"', async () => {
    fresh();
    const crawler = await WebCrawler.open();
    const result = await crawler.run(`${site.url}/`, { extract: { engine: 'model', model: model(), schema: SCHEMA } });
    expect(result.extracted).toEqual({ price: 12 });
    script = ['no', 'no'];
    const failed = await crawler.run(`${site.url}/`, {
      maxRetries: 0,
      extract: { engine: 'model', model: model(), schema: SCHEMA },
    });
    expect(failed).toMatchObject({ success: false, errorCode: 'MODEL_FAILED' });
    await crawler.close();
  });

  it('extracts on the command line by a schema and a prompt', async () => {
    fresh();
    const data = await dataFolder();
    const args = [
      'scrape',
      `${site.url}/`,
      '--prompt',
      'the price',
      '--schema',
      JSON.stringify(SCHEMA),
      '--llm-url',
      `${endpoint.url}/v1`,
      '--llm-model',
      'scripted',
    ];
    const { code, stdout } = await startNode([MAIN, ...args], { cwd: process.cwd() }).ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, { price: 12 }]);
    await data.remove();
  });
});
