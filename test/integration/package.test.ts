// What people install: the packed tarball in an empty project, used as JavaScript, as TypeScript and by require, and the
// projects that `orcrawl init` makes of it. One package and one installation for all.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../src/cli/init/project.js';
import { Simweb } from '../../src/index.js';
import { browserPath } from '../support/browser.js';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const TIMEOUT_MS = 400_000;

const json = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>;

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

/** What the projects of `orcrawl init` ask for beside orcrawl. */
const FURTHER = ['typescript', '@types/node', 'playwright-core', 'jiti'];
/** Where in node_modules that is which orcrawl does not need itself. */
const NOT_NEEDED = ['typescript', '@types', 'undici-types', 'playwright-core'];
/** As `npm init -y` writes it. */
const NPM_INIT = {
  name: 'project',
  version: '1.0.0',
  main: 'index.js',
  scripts: { test: 'echo "Error: no test specified" && exit 1' },
  license: 'ISC',
  type: 'commonjs',
};
let folder: string;
let names: readonly string[];
/** A project with orcrawl and FURTHER: others lie below it and find its packages. */
let installed: string;
let orcrawl: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-package-'));
  const args = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  names = files.map(({ path: name }) => name);
  installed = path.join(folder, 'project');
  await mkdir(installed);
  await writeFile(path.join(installed, 'package.json'), JSON.stringify(NPM_INIT));
  const { dependencies, devDependencies } = await json(path.join(root, 'package.json'));
  const versions: Record<string, string> = { ...dependencies, ...devDependencies };
  const further = FURTHER.map((name) => `${name}@${versions[name]}`);
  await npm(installed, 'install', path.join(folder, filename), ...further);
  orcrawl = path.join(installed, 'node_modules/.bin/orcrawl');
}, TIMEOUT_MS);
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

const withoutNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|VITEST)/i.test(name)));

/** As a user's terminal would: nothing of the npm that runs these tests reaches it. */
function npm(cwd: string, ...args: string[]) {
  const env = withoutNpm(process.env);
  const flags = args[0] === 'install' ? ['--silent', '--no-audit', '--no-fund', '--prefer-offline'] : [];
  return run('npm', [...args, ...flags], { cwd, env: { ...env, NO_COLOR: '1' }, timeout: TIMEOUT_MS });
}

/** What `npm run NAME` runs in a project below the one that is installed, without the second that npm takes to start. */
async function script(folder: string, name: string, ...flags: string[]) {
  const { scripts } = await json(path.join(folder, 'package.json'));
  const bin = path.join(installed, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, NO_COLOR: '1' };
  return run('sh', ['-c', [scripts![name]!, ...flags].join(' ')], {
    cwd: folder,
    env: withoutNpm(env),
    timeout: TIMEOUT_MS,
  });
}

/** Lends the project as an installation of orcrawl alone would have left it. */
async function withOrcrawlAlone(use: () => Promise<void>): Promise<void> {
  const aside = path.join(folder, 'aside');
  await mkdir(aside);
  const places = NOT_NEEDED.map(
    (name) => [path.join(installed, 'node_modules', name), path.join(aside, name)] as const,
  );
  for (const [place, kept] of places) await rename(place, kept);
  try {
    await use();
  } finally {
    for (const [place, kept] of places) await rename(kept, place);
  }
}

const isUsable = (template: string) => template !== 'playwright' || browserPath !== undefined;

describe('the packed package', () => {
  it(
    'runs the ten lines as JS, by require and as TS in a project that has nothing else',
    () =>
      withOrcrawlAlone(async () => {
        const { dependencies, optionalDependencies } = await json(
          path.join(installed, 'node_modules/orcrawl/package.json'),
        );
        for (const name of NOT_NEEDED) expect({ ...dependencies, ...optionalDependencies }).not.toHaveProperty(name);
        const crawl = `crawler.run(['${web.url(0)}']).then((stats) => console.log('finished', stats.requestsFinished));`;
        await writeFile(
          path.join(installed, 'esm.mjs'),
          `import { CheerioCrawler, createCheerioRouter } from 'orcrawl';\n${TEN_LINES}\n${crawl}`,
        );
        await writeFile(
          path.join(installed, 'required.cjs'),
          `const { CheerioCrawler, createCheerioRouter } = require('orcrawl');\n${TEN_LINES}\n${crawl}`,
        );
        await writeFile(
          path.join(installed, 'typed.ts'),
          `import { CheerioCrawler, createCheerioRouter } from 'orcrawl';\n${TEN_LINES}\nexport const statistics: Promise<{ requestsFinished: number }> = crawler.run([]);\n`,
        );
        for (const file of ['esm.mjs', 'required.cjs']) {
          const { stdout } = await run(process.execPath, [file], { cwd: installed });
          expect(stdout).toContain('finished 8');
        }
        const items = await readItems(path.join(installed, 'storage/datasets/default'));
        expect(items).toHaveLength(8);
        const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
        const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
        await run(process.execPath, [tsc, ...flags, 'typed.ts'], { cwd: installed });
        const { stdout } = await run(orcrawl, ['--version'], { cwd: installed });
        expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
      }),
    TIMEOUT_MS,
  );
});

describe('a project of the packed package', () => {
  for (const template of Object.keys(TEMPLATES)) {
    it.runIf(isUsable(template))(
      `from the template ${template} passes npm test and runs npm start, offline`,
      async () => {
        const folder = path.join(installed, `my-${template}`);
        // By npm for the first, and by what npm would run for the others.
        const isFirst = template === Object.keys(TEMPLATES)[0];
        if (isFirst) await npm(installed, 'exec', '--no', '--', 'orcrawl', 'init', folder, '--template', template);
        else await run(orcrawl, ['init', folder, '--template', template], { cwd: installed });
        const { name, dependencies, devDependencies } = await json(path.join(folder, 'package.json'));
        expect(name).toBe(`my-${template}`);
        expect(dependencies!.orcrawl).toMatch(/^\^\d+\.\d+\.\d+/);
        // What the project asks for is what is installed above it.
        for (const wanted of Object.keys({ ...dependencies, ...devDependencies })) {
          expect(await readdir(path.join(installed, 'node_modules', wanted))).toContain('package.json');
        }

        const tested = await (isFirst ? npm : script)(folder, 'test');
        expect(tested.stdout).toMatch(/pass 1\b/);
        const started = await (isFirst ? npm : script)(folder, 'start');
        const said = {
          cheerio: '30 pages, 0 failed',
          playwright: '8 pages, 0 failed',
          batch: '30 records',
          pods: '60 pages',
        };
        expect(started.stdout + started.stderr).toContain(said[template as keyof typeof said]);
        const output = { cheerio: 'pages.csv', playwright: 'pages.csv', batch: 'records.jsonl', pods: 'trial' };
        expect(await readdir(folder)).toContain(output[template as keyof typeof output]);
      },
      TIMEOUT_MS,
    );
  }

  it(
    'type-checks from every template',
    async () => {
      const usable = Object.keys(TEMPLATES).filter(isUsable);
      const folders = usable.map((template) => path.join(installed, `my-${template}`));
      const first = folders[0]!;
      const settings = await readFile(path.join(first, 'tsconfig.json'), 'utf8');
      for (const folder of folders) {
        expect(await readFile(path.join(folder, 'tsconfig.json'), 'utf8')).toBe(settings);
        expect((await json(path.join(folder, 'package.json'))).scripts!.typecheck).toBe('tsc');
      }
      // All in one program: four would each read the types of Node and of orcrawl.
      const own = JSON.parse(settings) as { include: string[] };
      const include = folders.flatMap((folder) => own.include.map((part) => path.join(folder, part)));
      await writeFile(path.join(first, 'tsconfig.json'), JSON.stringify({ ...own, include }));
      const { stdout } = await script(first, 'typecheck', '--listFiles');
      for (const folder of folders) expect(stdout).toContain(`${folder}/src/`);
    },
    TIMEOUT_MS,
  );

  it(
    'begins in a folder with a package.json: what it says stays, what it lacks is added',
    async () => {
      const before = await json(path.join(installed, 'package.json'));
      const { stdout } = await run(orcrawl, ['init', '--yes'], { cwd: installed });
      expect(stdout).toContain('from the template cheerio');
      expect(stdout).not.toContain('cd ');
      const after = await json(path.join(installed, 'package.json'));
      expect(after.dependencies!.orcrawl).toBe(before.dependencies!.orcrawl);
      expect(after.scripts!.test).toContain('routes.test.ts');
      // It has them already, in its own place.
      expect(after.dependencies).toEqual(before.dependencies);
      expect(after.devDependencies).toEqual({});
      await npm(installed, 'install');
      expect((await script(installed, 'test')).stdout).toMatch(/pass 1\b/);
    },
    TIMEOUT_MS,
  );
});

describe('the documentation in the package', () => {
  it('links to files that are in the package, or to source code', async () => {
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
