// The content of results: what each option of a run leaves of a page, over a real response.
import { afterAll, describe, expect, it } from 'vitest';
import { type RunConfig, WebCrawler } from '../../src/index.js';
import { fixtures } from './http-fixtures.js';

const servers = fixtures();
afterAll(() => servers.closeAll());

const PAGE = `<html><head><title>Orcas</title><script>evil()</script></head><body>
<nav><a href="/home">Home</a></nav>
<main><h1>Orcas hunt in pods</h1>
<p>They live in <a href="https://other.example/sea">the sea</a> and <a href="https://facebook.com/orca">elsewhere</a>.</p>
<table><tr><th>Name</th><th>Mass</th></tr><tr><td>Orca</td><td>5 t</td></tr></table>
<img src="/orca.png" alt="An orca" onerror="evil()"></main>
<footer>Short</footer></body></html>`;

async function result(config: RunConfig) {
  const { url } = await servers.serve(
    (_request, response) => void response.setHeader('content-type', 'text/html').end(PAGE),
  );
  await using crawler = await WebCrawler.open();
  const one = await crawler.run(`${url}/`, config);
  return { one, url };
}

describe('the content of a result', () => {
  it('is markdown, tables, media and cleaned HTML, each when read', async () => {
    const { one, url } = await result({});
    expect(one.markdown.raw).toContain('# Orcas hunt in pods');
    expect(String(one.markdown)).toBe(one.markdown.raw);
    expect(one.markdown.references).toContain('https://other.example/sea');
    expect(one.tables).toEqual([{ caption: null, headers: ['Name', 'Mass'], rows: [['Orca', '5 t']] }]);
    expect(one.media.images[0]).toMatchObject({ url: `${url}/orca.png`, alt: 'An orca' });
    expect(one.cleanedHtml).not.toContain('evil');
    expect(one.links.internal.map((link) => link.url)).toEqual([`${url}/home`]);
    expect(JSON.parse(JSON.stringify(one))).toMatchObject({ markdown: { raw: one.markdown.raw }, extracted: null });
  });

  it('numbers no links when citations are not wanted', async () => {
    const { one } = await result({ markdown: { citations: false } });
    expect([one.markdown.withCitations, one.markdown.references]).toEqual([one.markdown.raw, '']);
  });

  it('is what the selectors leave of the page', async () => {
    const { one } = await result({ cssSelector: 'main', excludedTags: ['table'] });
    expect(one.markdown.raw).not.toContain('Home');
    expect(one.markdown.raw).not.toContain('5 t');
    expect(one.tables).toEqual([]);
    expect(one.text).toContain('Orcas hunt in pods');
    const { one: narrow } = await result({ targetElements: ['h1'] });
    expect(narrow.text.trim()).toBe('Orcas hunt in pods');
    expect(narrow.links.external).toHaveLength(2);
  });

  it('leaves out links and short lines as asked', async () => {
    const { one } = await result({
      excludeSocialMediaLinks: true,
      excludeDomains: ['other.example'],
      wordCountThreshold: 2,
    });
    expect(one.links.external).toEqual([]);
    expect(one.text).not.toContain('Short');
    expect((await result({ excludeExternalLinks: true })).one.links.external).toEqual([]);
    const { one: plain } = await result({ onlyText: true });
    expect(plain.cleanedHtml).toBe(plain.text);
  });

  it('has the fields of a schema', async () => {
    const { one } = await result({
      extract: { engine: 'css', items: 'tr', fields: { name: { selector: 'td:first-child' } } },
    });
    expect(one.extracted).toContainEqual({ name: 'Orca' });
  });

  it('names what is wrong with schema and markdown options', async () => {
    await using crawler = await WebCrawler.open();
    expect(() => crawler.runMany([], { markdown: { sources: 'raw' } as never })).toThrow(
      'RunConfig markdown has no option',
    );
    expect(() => crawler.runMany([], { extract: { engine: 'json' } as never })).toThrow('engine');
  });
});

it('is markdown where a site offers it and it is asked for', async () => {
  const asked: (string | undefined)[] = [];
  const { url } = await servers.serve((request, response) => {
    asked.push(request.headers.accept);
    const isMarkdown = request.headers.accept?.startsWith('text/markdown') ?? false;
    response.setHeader('content-type', isMarkdown ? 'text/markdown; charset=utf-8' : 'text/html');
    response.setHeader('vary', 'accept');
    response.end(isMarkdown ? '# Orcas\n\nThey hunt in **pods**. See [prey](/prey).' : PAGE);
  });
  await using crawler = await WebCrawler.open();
  const page = await crawler.run(`${url}/`, { acceptMarkdown: true });
  expect(page.markdown.raw).toBe(`# Orcas\n\nThey hunt in **pods**. See [prey](${url}/prey).`);
  expect([page.metadata?.title, page.metadata?.document?.format]).toEqual(['Orcas', 'markdown']);
  expect(page.links.internal.map((link) => link.url)).toEqual([`${url}/prey`]);
  const usual = await crawler.run(`${url}/`);
  expect(usual.markdown.raw).toContain('# Orcas hunt in pods');
  await crawler.run(`${url}/`, { acceptMarkdown: true, headers: { Accept: 'text/html' } });
  expect(asked[0]).toMatch(/^text\/markdown,text\/html/);
  expect(asked[1]).toMatch(/^text\/html/);
  expect(asked[2]).toBe('text/html');
});
