// What people install: the packed tarball in an empty project, used as JavaScript, as TypeScript and by require.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Simweb } from '../../src/index.js';
import { temporaryFolder } from '../support/crawl.js';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ pagesPerHost: 8, pageBytes: 2000 });
});
afterAll(() => web.close());

const TEN_LINES = `
const router = createCheerioRouter();
router.addDefaultHandler(async ({ request, $, enqueueLinks, pushData }) => {
  await pushData({ url: request.loadedUrl, title: $('title').text() });
  await enqueueLinks();
});
const crawler = new CheerioCrawler({ requestHandler: router });
`;

let packed: { readonly tarball: string; readonly names: readonly string[] };
beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-package-'));
  const args = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  packed = { tarball: path.join(folder, filename), names: files.map(({ path: name }) => name) };
});
afterAll(() => rm(path.dirname(packed.tarball), { recursive: true, force: true }));

async function emptyProject(): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true }));
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', packed.tarball], {
    cwd: folder,
  });
  return folder;
}

describe('the packed package', () => {
  it('installs into an empty project and runs the ten lines as JS, by require and as TS', async () => {
    const folder = await emptyProject();
    const crawl = `crawler.run(['${web.url(0)}']).then((stats) => console.log('finished', stats.requestsFinished));`;
    await writeFile(
      path.join(folder, 'esm.mjs'),
      `import { CheerioCrawler, createCheerioRouter } from 'orcrawl';\n${TEN_LINES}\n${crawl}`,
    );
    await writeFile(
      path.join(folder, 'required.cjs'),
      `const { CheerioCrawler, createCheerioRouter } = require('orcrawl');\n${TEN_LINES}\n${crawl}`,
    );
    await writeFile(
      path.join(folder, 'typed.ts'),
      `import { CheerioCrawler, createCheerioRouter } from 'orcrawl';\n${TEN_LINES}\nexport const statistics: Promise<{ requestsFinished: number }> = crawler.run([]);\n`,
    );
    for (const file of ['esm.mjs', 'required.cjs']) {
      const { stdout } = await run(process.execPath, [file], { cwd: folder });
      expect(stdout).toContain('finished 8');
    }
    const items = await readItems(path.join(folder, 'storage/datasets/default'));
    expect(items).toHaveLength(8);
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
    await run(process.execPath, [tsc, ...flags, 'typed.ts'], { cwd: folder });
    const { stdout } = await run('npx', ['--no-install', 'orcrawl', '--version'], { cwd: folder });
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('the documentation in the package', () => {
  it('links to files that are in the package, or to source code', async () => {
    const { names } = packed;
    const written = names.filter((name) =>
      /^(README|CONTRIBUTING|SECURITY)\.md$|^docs\/(guides\/)?[\w-]+\.md$/.test(name),
    );
    expect(written.length).toBeGreaterThan(20);
    const dead: string[] = [];
    for (const name of written) {
      const text = await readFile(path.join(root, name), 'utf8');
      for (const [, link] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        const target = path.posix.join(path.posix.dirname(name), link!);
        if (/^[a-z]+:/.test(link!) || /^(src|test|scripts)\//.test(target)) continue;
        if (!names.some((file) => file === target || file.startsWith(`${target}/`))) dead.push(`${name}: ${link}`);
      }
    }
    expect(dead).toEqual([]);
  });
});

describe('import of the package', () => {
  it('loads a handful of files, and no package but on first use', async () => {
    const { files, packages } = await staticImports(path.join(root, 'dist/index.js'));
    // Bundled: the sources would be hundreds.
    expect(files.size).toBeLessThanOrEqual(55);
    expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual([]);
  });
});

/** What a built file imports before its first line runs, and what that imports. */
async function staticImports(entry: string): Promise<{ files: Set<string>; packages: Set<string> }> {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    for (const [, name] of text.matchAll(/^(?:import|export) (?:[^'"]*? from )?["']([^'"]+)["'];?$/gm)) {
      if (name!.startsWith('.')) files.add(path.resolve(path.dirname(file), name!));
      else packages.add(name!);
    }
  }
  return { files, packages };
}

async function readItems(folder: string): Promise<unknown[]> {
  const items: unknown[] = [];
  for (const file of await readdir(folder)) {
    const lines = (await readFile(path.join(folder, file), 'utf8')).split('\n').filter(Boolean);
    for (const line of lines) items.push(JSON.parse(line));
  }
  return items;
}
