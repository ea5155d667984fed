// The snippets of docs/serve.md, run as they stand, with the addresses of the test in place of those of the page.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NAMES_WITHOUT_EFFECT } from '../../src/serve/api/without-effect.js';
import { dataFolder, html, type ServerProcess, type Site, startServe, startSite } from '../support/serve.js';

const run = promisify(execFile);
let page: string;
let site: Site;
let server: ServerProcess;
let removeData: () => Promise<void>;

beforeAll(async () => {
  page = await readFile(new URL('../../docs/serve.md', import.meta.url), 'utf8');
  site = await startSite((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html('Example', '<p>An example of a page with words.</p>'));
  });
  const data = await dataFolder();
  removeData = data.remove;
  server = await startServe(data.dir);
});
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await removeData?.();
});

/** The snippets of a language, adapted to where the test runs. */
function snippets(language: string): string[] {
  const found = [...page.matchAll(new RegExp('```' + language + '\\n([^]*?)```', 'g'))].map(([, code]) => code!);
  return found.map((code) =>
    code
      .replaceAll('https://example.com', site.url)
      .replaceAll('http://localhost:3002', server.url)
      .replaceAll('localhost:3002', server.url),
  );
}

it('reads, scrapes and crawls by curl', async () => {
  const shell = (code: string) => run('sh', ['-e', '-c', code], { env: { ...process.env, TOKEN: server.token } });
  const [start, curl] = snippets('sh');
  const { stdout: read } = await shell(start!.split('\n').find((line) => line.startsWith('curl'))!);
  expect(read).toContain('An example of a page');
  const [scrape, crawl, status] = curl!.split(/\n(?=curl)/).map((line) => line.replace(/\s+#.*$/gm, ''));
  expect(JSON.parse((await shell(scrape!)).stdout)).toMatchObject({
    success: true,
    data: { markdown: expect.any(String) },
  });
  const { id } = JSON.parse((await shell(crawl!)).stdout) as { id: string };
  expect(JSON.parse((await shell(status!.replace('/ID', `/${id}`))).stdout)).toMatchObject({ success: true });
});

it("runs the snippet of Firecrawl's SDK", async () => {
  const [code] = snippets('js');
  // Beside node_modules, so that the package is found.
  const folder = await mkdtemp(path.join(process.cwd(), 'node_modules', '.orcrawl-docs-'));
  const file = path.join(folder, 'snippet.mjs');
  await writeFile(file, `${code}\nconsole.log(JSON.stringify({ page, job }));\n`);
  const { stdout } = await run(process.execPath, [file], { env: { ...process.env, TOKEN: server.token } });
  expect(JSON.parse(stdout)).toMatchObject({ page: { markdown: expect.any(String) }, job: { status: 'completed' } });
  await rm(folder, { recursive: true, force: true });
});

it("runs the snippet of Firecrawl's SDK in Python where it is installed", async (context) => {
  const [code] = snippets('py');
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-docs-'));
  const file = path.join(folder, 'snippet.py');
  await writeFile(file, `import os\nTOKEN = os.environ["TOKEN"]\n${code}\nprint(page.markdown)\n`);
  try {
    await run('python3', ['-c', 'import firecrawl']);
  } catch {
    await rm(folder, { recursive: true, force: true });
    return context.skip('the package firecrawl of Python is not installed');
  }
  const { stdout } = await run('python3', [file], { env: { ...process.env, TOKEN: server.token } });
  expect(stdout).toContain('An example of a page');
  await rm(folder, { recursive: true, force: true });
});

/** What the Python SDK sends, and the loaders of LangChain and LlamaIndex through it, by the standard library alone. */
const PYTHON = `
import json, os, time, urllib.request
BASE, TOKEN, URL = os.environ["BASE"], os.environ["TOKEN"], os.environ["URL"]
def ask(method, path, body=None):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "User-Agent": "python-requests/2.32"}
    data = None if body is None else json.dumps({**body, "origin": "python-sdk@4.0.0"}).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method)) as answer:
        return json.load(answer)
page = ask("POST", "/v2/scrape", {"url": URL, "formats": ["markdown"]})["data"]
old = ask("POST", "/v1/scrape", {"url": URL, "formats": ["markdown"]})["data"]
job = ask("POST", "/v2/crawl", {"url": URL, "limit": 1, "scrapeOptions": {"formats": ["markdown"]}})["id"]
state = ask("GET", "/v2/crawl/" + job)
while state["status"] == "scraping":
    time.sleep(0.3)
    state = ask("GET", "/v2/crawl/" + job)
print(json.dumps([page["markdown"], old["markdown"], state["status"], state["data"][0]["markdown"]]))
`;

it('answers what the Python SDK and its loaders send', async (context) => {
  const env = { ...process.env, TOKEN: server.token, BASE: server.url, URL: site.url };
  const asked = await run('python3', ['-c', PYTHON], { env }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!asked) return context.skip('python3 is not installed');
  const text = expect.stringContaining('An example of a page');
  expect(JSON.parse(asked.stdout)).toEqual([text, text, 'completed', text]);
});

it('has every option that is accepted without effect', () => {
  expect(NAMES_WITHOUT_EFFECT.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
