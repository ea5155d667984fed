// Near copies in jobs of `orcrawl serve`: named or left out, by the code of crawls and batches.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dataFolder,
  eventually,
  html,
  LOOPBACK,
  type ServerProcess,
  type Site,
  startServe,
  startSite,
} from '../support/serve.js';

const STORIES = [
  'The orchard lies behind the mill, and whoever comes by in autumn may take as many apples as they can carry home.',
  'Harbour pilots board every ship before dawn, since the sandbanks of the bay move with each storm of the winter.',
];

let site: Site;
let server: ServerProcess;
let removeData: () => Promise<void>;

beforeAll(async () => {
  const story = (n: number) => `<p>${STORIES[n]!}</p>`.repeat(3);
  const bodies: Record<string, string> = {
    '/': '<p>All the stories of this town are listed on this page, the oldest of them first.</p><a href="/a">a</a>',
    '/a': `${story(0)}<a href="/copy">printed</a><a href="/b">b</a>`,
    '/copy': `${story(0)}<a href="/beyond">on</a>`,
    '/b': story(1),
    '/beyond': '<p>Only the copy of the first story leads to this page, which says something else.</p>',
  };
  site = await startSite((request, response) => {
    const body = bodies[request.url ?? '/'];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(html(`Page of ${Math.random()}`, body ?? 'nothing is here'));
  });
  const data = await dataFolder();
  removeData = data.remove;
  server = await startServe(data.dir, [...LOOPBACK]);
}, 120_000);

afterAll(async () => {
  await server?.stop();
  await site?.close();
  await removeData?.();
});

interface Metadata {
  readonly sourceURL: string;
  readonly duplicateOf?: { readonly url: string; readonly distance: number };
}

/** What each page of a job repeats, by path: undefined for one that repeats none. */
async function repeatsOf(path: string, body: object): Promise<Record<string, string | undefined>> {
  const { id } = (await server.ask('POST', path, body)).json;
  let job: { status: string; completed: number; total: number; data: { metadata: Metadata }[] };
  await eventually(async () => {
    job = (await server.ask('GET', `${path}/${id}`)).json;
    return job.status === 'completed';
  }, 'the job ends');
  expect([job!.completed, job!.total]).toEqual([job!.data.length, job!.data.length]);
  const pathOf = (url: string) => new URL(url).pathname;
  return Object.fromEntries(
    job!.data.map(({ metadata: { sourceURL, duplicateOf } }) => [
      pathOf(sourceURL),
      duplicateOf && `${pathOf(duplicateOf.url)} ${typeof duplicateOf.distance}`,
    ]),
  );
}

describe('near copies in a job of the API', () => {
  const crawl = (more: object) =>
    repeatsOf('/v2/crawl', { url: `${site.url}/`, sitemap: 'skip', maxConcurrency: 1, ...more });

  it('are named in a crawl, left out of another with what only they link to, and kept by default', async () => {
    const all = { '/': undefined, '/a': undefined, '/b': undefined, '/beyond': undefined };
    expect(await crawl({})).toEqual({ ...all, '/copy': undefined });
    expect(await crawl({ duplicates: 'mark' })).toEqual({ ...all, '/copy': '/a number' });
    expect(await crawl({ duplicates: 'skip' })).toEqual({ '/': undefined, '/a': undefined, '/b': undefined });
  });

  it('are named in a batch, or left out', async () => {
    const body = { urls: ['/a', '/b', '/copy'].map((path) => site.url + path), maxConcurrency: 1 };
    const batch = (duplicates: string) => repeatsOf('/v2/batch/scrape', { ...body, duplicates });
    expect(await batch('mark')).toEqual({ '/a': undefined, '/b': undefined, '/copy': '/a number' });
    expect(await batch('skip')).toEqual({ '/a': undefined, '/b': undefined });
  });

  it('are not compared by another word, nor in monitors', async () => {
    expect(await server.ask('POST', '/v2/crawl', { url: site.url, duplicates: 'drop' })).toMatchObject({ status: 400 });
    const targets = [{ type: 'crawl', url: site.url, crawlOptions: { duplicates: 'skip' } }];
    expect(await server.ask('POST', '/v2/monitor', { name: 'm', schedule: { text: 'hourly' }, targets })).toMatchObject(
      { status: 400 },
    );
  });
});
