// `orcrawl migrate` on a project as Crawlee's starter makes them, written by hand.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { MAIN, startNode } from './cli-process.js';

const PROJECT = {
  'package.json': JSON.stringify({ name: 'shop', dependencies: { crawlee: '^3.0.0', playwright: '*' } }, null, 4),
  'src/main.ts': `import { CheerioCrawler, ProxyConfiguration } from 'crawlee';
import { router } from './routes.js';

const crawler = new CheerioCrawler({
    requestHandler: router,
    handlePageFunction: undefined,
});
await crawler.run(['https://example.com']);
`,
  'src/routes.ts': `import { createCheerioRouter } from '@crawlee/cheerio';\nexport const router = createCheerioRouter();\n`,
  'src/browser.js': `const { PuppeteerCrawler } = require('crawlee');\n`,
  'src/other.ts': `export const handlePageFunction = 1;\n`,
  'node_modules/mine/index.js': `require('crawlee');\n`,
  'storage/key_value_stores/default/x.js': `require('crawlee');\n`,
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-migrate-'));
  for (const [file, text] of Object.entries(PROJECT)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  // What a link leads to is somebody else's.
  await symlink(path.join(folder, 'node_modules'), path.join(folder, 'src/linked'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const migrate = async (...args: string[]): Promise<string> =>
  (await orcrawlHere(['migrate', folder, ...args], { cwd: folder })).stdout;
const read = (file: string) => readFile(path.join(folder, file), 'utf8');

describe('orcrawl migrate', () => {
  it('tells what would change and what is not supported, and changes nothing', async () => {
    const told = (await startNode([MAIN, 'migrate', folder], { cwd: folder }).ended).stdout;
    expect(told).toContain('src/main.ts:1  crawlee → orcrawl/crawlee');
    expect(told).toContain('src/routes.ts:1  @crawlee/cheerio → orcrawl/crawlee');
    expect(told).toContain('src/main.ts:6  handlePageFunction: is an older name: use requestHandler');
    expect(told).toContain('src/browser.js:1  PuppeteerCrawler: not provided');
    expect(told).toContain('4 files to change');
    expect(told).not.toMatch(/other\.ts|node_modules|storage\//);
    for (const [file, text] of Object.entries(PROJECT)) expect(await read(file)).toBe(text);
  });

  it('keeps byte order marks and line ends, and leaves files alone that are not UTF-8', async () => {
    const latin1 = Buffer.from(`// caf\u00e9\nimport { Log } from 'crawlee';\n`, 'latin1');
    const utf16 = Buffer.from(`\ufeffimport { Log } from 'crawlee';\n`, 'utf16le');
    await writeFile(path.join(folder, 'src/latin1.js'), latin1);
    await writeFile(path.join(folder, 'src/utf16.js'), utf16);
    await writeFile(path.join(folder, 'src/marked.js'), `\ufeffimport 'crawlee';\r\n// \u00e9\r\n`);
    await writeFile(
      path.join(folder, 'package.json'),
      `{\r\n  "dependencies": {\r\n    "crawlee": "3"\r\n  }\r\n}\r\n`,
    );
    const told = await migrate('--write');
    expect(told).toContain('src/latin1.js: not read (not UTF-8)');
    expect(told).toContain('src/utf16.js: not read (not UTF-8)');
    expect((await readFile(path.join(folder, 'src/latin1.js'))).equals(latin1)).toBe(true);
    expect((await readFile(path.join(folder, 'src/utf16.js'))).equals(utf16)).toBe(true);
    expect(await read('src/marked.js')).toBe(`\ufeffimport 'orcrawl/crawlee';\r\n// \u00e9\r\n`);
    expect(await read('package.json')).toMatch(
      /^\{\r\n  "dependencies": \{\r\n    "orcrawl": "\^[\d.]+.*"\r\n  \}\r\n\}\r\n$/,
    );
  });

  it('changes imports and dependencies when told so, and has nothing left to do', async () => {
    expect(await migrate('--write')).toContain('4 files changed');
    expect(await read('src/main.ts')).toBe(PROJECT['src/main.ts'].replace(`'crawlee'`, `'orcrawl/crawlee'`));
    expect(await read('src/routes.ts')).toContain(`from 'orcrawl/crawlee'`);
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      dependencies: { orcrawl: expect.stringMatching(/^\^\d/) as string, 'playwright-core': '*' },
    });
    for (const file of [
      'src/other.ts',
      'node_modules/mine/index.js',
      'storage/key_value_stores/default/x.js',
    ] as const) {
      expect(await read(file)).toBe(PROJECT[file]);
    }
    expect(await migrate()).toContain('nothing to do');
  });
});
