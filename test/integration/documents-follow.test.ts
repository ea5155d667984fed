// Links out of a PDF are followed when a crawl is told to, on the command line and on pods, and not otherwise.
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import PDFDocument from 'pdfkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { serveSite, type Site } from '../support/site.js';
import { MAIN, startNode } from './cli-process.js';

let site: Site;

beforeAll(async () => {
  site = await serveSite({
    '/report.pdf': ({ headers }: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/pdf' });
      const document = new PDFDocument();
      document.pipe(response);
      document.text('The harbour is described on another page.', { link: `http://${headers.host}/harbour` }).end();
    },
    '/harbour': '<title>Harbour</title><p>The harbour lies north of the bridge.</p>',
  });
});

afterAll(() => site.close());

it.each([
  [['--documents', 'follow'], 2],
  [['--documents'], 1],
])('orcrawl crawl %j', { timeout: 60_000 }, async (flags, pages) => {
  const cwd = await temporaryFolder();
  const args = ['crawl', `${site.url}/report.pdf`, ...flags, '--out', 'out', '--delay', '0', '--quiet'];
  const { code, stderr } = await startNode([MAIN, ...args], { cwd }).ended;
  expect([code, stderr]).toEqual([0, '']);
  const lines = (await readFile(path.join(cwd, 'out', 'pages.jsonl'), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(pages);
});

it.each([
  ['follow', 2],
  ['true', 1],
])('pods with documents: %s', { timeout: 120_000 }, async (documents, pages) => {
  const { run } = await podsTrial({ seeds: [`${site.url}/report.pdf`], more: [`documents: ${documents}`] });
  const { code, stdout } = await run().ended;
  expect(code).toBe(0);
  expect(lastLine(stdout)).toMatch(new RegExp(`^${pages} pages?: nothing is left to crawl`));
});
