// MCP over both transports, by the SDKs of both protocol eras: tools are listed and called, and pages are only content.
import { tmpdir } from 'node:os';
import { Client } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN, startNode, until } from './cli-process.js';
import { dataFolder, html, LOOPBACK, type ServerProcess, type Site, startServe, startSite } from '../support/serve.js';

interface Called {
  readonly isError?: boolean;
  readonly content: { readonly type: string; readonly text: string }[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly structuredContent?: any;
}

interface AnyClient {
  listTools(): Promise<{ tools: { name: string; inputSchema: object; outputSchema?: object; annotations?: object }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(call: { name: string; arguments: Record<string, string> }): Promise<unknown>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(call: { uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

let site: Site;
let search: Site;
let server: ServerProcess;
let removeData: () => Promise<void>;

const HIDDEN = [
  '<p style="display:none">SECRET-1</p>',
  '<p style="visibility: hidden">SECRET-2</p>',
  '<p style="font-size:0">SECRET-3</p>',
  '<p style="opacity:0">SECRET-4</p>',
  '<p style="color:#fff;background:#ffffff">SECRET-5</p>',
  '<p style="position:absolute;left:-9999px">SECRET-6</p>',
  '<p aria-hidden="true">SECRET-7</p>',
  '<p hidden>SECRET-8</p>',
  '<!-- SECRET-9 -->',
  '<style>.away{display:none} #off{position:absolute;top:-5000px}</style><p class="away">SECRET-10</p><p id="off">SECRET-11</p>',
  `<p>visible${[...'SECRET-12'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')} tail</p>`,
  '<p>zero\u200bwidth</p>',
];

beforeAll(async () => {
  site = await startSite((request, response) => {
    const at = request.url ?? '/';
    if (at === '/robots.txt') return void response.end('User-agent: *\nDisallow: /private\n');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    if (at === '/hidden')
      return void response.end(
        html('Hidden', `<p>What people can read on this page is here, in full.</p>${HIDDEN.join('')}`),
      );
    if (at === '/long') return void response.end(html('Long', `<p>${'word '.repeat(20_000)}</p>`));
    response.end(
      html(
        `Page ${at}`,
        `<p class="price">12 euros</p><p>A few words for the page at ${at} to be read.</p><a href="/a">a</a><a href="/b">b</a><a href="/private">p</a>`,
      ),
    );
  });
  search = await startSite((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://x');
    const results = [{ url: `${site.url}/a`, title: `About ${searchParams.get('q')}`, content: 'a hit' }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  });
  const data = await dataFolder();
  removeData = data.remove;
  server = await startServe(data.dir, [...LOOPBACK, '--searxng', search.url]);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await search?.close();
  await removeData?.();
});

const STDIO = () => ({
  command: process.execPath,
  args: [MAIN, 'mcp', ...LOOPBACK, '--searxng', search.url],
  stderr: 'ignore' as const,
});
const HEADERS = () => ({ requestInit: { headers: { authorization: `Bearer ${server.token}` } } });
/** The newer era, or nothing: by itself the client would speak the older one. */
const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
const INFO = { name: 'test', version: '1.0.0' };

const WAYS: [string, () => Promise<AnyClient>][] = [
  [
    'client 2.x over HTTP',
    async () =>
      connected(new Client(INFO, MODERN), new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), HEADERS())),
  ],
  ['client 2.x over stdio', async () => connected(new Client(INFO, MODERN), new StdioClientTransport(STDIO()))],
  [
    'sdk 1.x over HTTP',
    async () => connected(new OldClient(INFO), new OldHttp(new URL(`${server.url}/mcp`), HEADERS())),
  ],
  ['sdk 1.x over stdio', async () => connected(new OldClient(INFO), new OldStdio(STDIO()))],
];

async function connected(client: unknown, transport: unknown): Promise<AnyClient> {
  await (client as { connect(transport: unknown): Promise<void> }).connect(transport);
  return client as AnyClient;
}

describe.each(WAYS)('%s', (_name, connect) => {
  it('lists and calls every tool', async () => {
    const client = await connect();
    try {
      const call = async (name: string, args: Record<string, unknown>) =>
        (await client.callTool({ name, arguments: args })) as Called;
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual([
        'batch_scrape',
        'crawl',
        'crawl_status',
        'extract_fields',
        'map',
        'scrape',
        'search',
      ]);
      for (const tool of tools) {
        expect(tool).toMatchObject({
          inputSchema: { type: 'object' },
          outputSchema: { type: 'object' },
          annotations: { readOnlyHint: true, openWorldHint: true },
        });
      }

      const page = await call('scrape', { url: `${site.url}/a` });
      expect(page.structuredContent).toMatchObject({ title: 'Page /a', statusCode: 200, start_index: 0, remaining: 0 });
      expect(page.content[0]!.text).toMatch(
        /^<page url=[^]*12 euros[^]*<\/page>\nThe text above is the content of a web page/,
      );

      const first = await call('scrape', { url: `${site.url}/long`, max_length: 1_000 });
      expect(first.structuredContent).toMatchObject({ start_index: 0, next_start_index: 1_000 });
      expect(first.structuredContent.content).toHaveLength(1_000);
      const second = await call('scrape', { url: `${site.url}/long`, max_length: 1_000, start_index: 1_000 });
      expect(second.structuredContent.start_index).toBe(1_000);
      expect(second.structuredContent.remaining).toBe(first.structuredContent.remaining - 1_000);

      const hidden = await call('scrape', { url: `${site.url}/hidden`, onlyMainContent: false });
      expect(hidden.content[0]!.text).toContain('What people can read');
      expect(hidden.content[0]!.text).toContain('visible tail');
      expect(hidden.content[0]!.text).toContain('zerowidth');
      expect(hidden.content[0]!.text).not.toMatch(/SECRET|[\u{e0000}-\u{e007f}]/u);

      const map = await call('map', { url: `${site.url}/` });
      expect(map.structuredContent.links.map(({ url }: { url: string }) => url)).toContain(`${site.url}/a`);
      const fields = await call('extract_fields', {
        url: `${site.url}/a`,
        schema: { engine: 'css', fields: { price: { selector: '.price' } } },
      });
      expect(fields.structuredContent.data).toEqual({ price: '12 euros' });
      const found = await call('search', { query: 'orcas' });
      expect(found.structuredContent.results).toMatchObject([{ url: `${site.url}/a`, title: 'About orcas' }]);

      expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
        'answer_from_site',
        'summarise_page',
      ]);
      const prompt = await client.getPrompt({ name: 'summarise_page', arguments: { url: 'https://a.example/' } });
      expect(JSON.stringify(prompt)).toContain('https://a.example/');
      expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['orcrawl://jobs']);

      for (const [name, args] of [
        ['crawl', { url: `${site.url}/`, limit: 3 }],
        ['batch_scrape', { urls: [`${site.url}/a`, `${site.url}/b`, `${site.url}/hidden`] }],
      ] as const) {
        const started = await call(name, args);
        const { id } = started.structuredContent;
        let state = await call('crawl_status', { id });
        while (state.structuredContent.status === 'scraping') {
          await new Promise((resume) => setTimeout(resume, 300));
          state = await call('crawl_status', { id });
        }
        expect(state.structuredContent).toMatchObject({ status: 'completed', completed: 3 });
        expect(state.structuredContent.pages).toHaveLength(3);
        expect(JSON.stringify(state)).not.toContain('SECRET');
        for (const uri of ['orcrawl://jobs', `orcrawl://jobs/${id}`]) {
          expect(JSON.stringify(await client.readResource({ uri }))).toContain(id);
        }
        const short = await call('crawl_status', { id, max_length: 10 });
        expect(short.structuredContent.pages).toHaveLength(1);
        expect(short.structuredContent).toMatchObject({ next_page: 0, next_start_index: 10 });
      }

      const denied = await call('scrape', { url: `${site.url}/private` });
      expect(denied).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/^ROBOTS_DENIED: [^]*What to do:/) }],
      });
      const refused = await call('scrape', { url: 'http://169.254.169.254/latest/' });
      expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^ADDRESS_REFUSED/) }] });
      expect(await call('crawl_status', { id: 'none' })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('JOB_NOT_FOUND') }],
      });
    } finally {
      await client.close();
    }
  });
});

describe('orcrawl mcp and a hostile client', () => {
  const say = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
  const hello = (id: number) =>
    say({
      id,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });

  it('ends with an error when a message has no end, and holds no more of it', { timeout: 100_000 }, async () => {
    const input = 'a'.repeat(11_000_000);
    const { code, stdout, stderr } = await startNode([MAIN, 'mcp', ...LOOPBACK], {
      cwd: tmpdir(),
      input,
      keepInputOpen: true,
    }).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('a message of the client is longer than 10000000 bytes');
  });

  it('answers what can be answered, amid deep, huge and broken messages', { timeout: 100_000 }, async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const call = (id: number, args: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"scrape","arguments":${args}}}\n`;
    const input = [
      hello(1) + say({ method: 'notifications/initialized' }),
      `${deep}\n{"jsonrpc":\n\0\0\n[]\n{"id":7}\n`,
      call(2, `{"url":${deep}}`),
      call(3, `{"url":"${'a'.repeat(5_000_000)}"}`),
      call(4, `{"url":"http://127.0.0.1:1/","__proto__":{"a":${deep}}}`),
      say({ id: 5, method: 'x'.repeat(1_000_000) }),
      say({ id: 6, method: 'tools/list' }),
    ].join('');
    const process = startNode([MAIN, 'mcp', ...LOOPBACK], { cwd: tmpdir(), input, keepInputOpen: true });
    const answers = () =>
      new Map(
        process
          .stdout()
          .split('\n')
          .slice(0, -1)
          .map((line) => [(JSON.parse(line) as { id: number }).id, line]),
      );
    await until(() => [1, 2, 3, 4, 5, 6].every((id) => answers().has(id)), 'every request is answered');
    process.signal('SIGTERM');
    expect((await process.ended).code).toBe(0);
    // What was refused is not sent back in full.
    for (const id of [2, 3, 4, 5]) expect(answers().get(id)!.length).toBeLessThan(20_000);
    expect(answers().get(6)).toContain('batch_scrape');
  });
});
