// `orcrawl init`: the project that a new user gets from the packed package, and what happens to existing files.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../src/cli/init/project.js';
import { orcrawlHere } from '../support/cli-here.js';
import { browserPath } from '../support/browser.js';
import { inTemporaryFolder, MAIN } from './cli-process.js';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const TIMEOUT_MS = 400_000;

const init = (cwd: string, ...args: string[]) => orcrawlHere(['init', ...args], { cwd });
const json = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>;

let tarball: string;
let installed: string;
beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-init-'));
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  tarball = path.join(
    folder,
    (await readdir(folder)).find((file) => file.endsWith('.tgz'))!,
  );
  installed = path.join(folder, 'project');
  await mkdir(installed);
  await npm(installed, 'init', '-y');
  // Once, for all projects: they lie below this one and find its packages.
  const { dependencies, devDependencies } = await json(path.join(root, 'package.json'));
  const versions: Record<string, string> = { ...dependencies, ...devDependencies };
  const further = ['jiti', 'typescript', '@types/node', 'playwright-core'].map((name) => `${name}@${versions[name]}`);
  await npm(installed, 'install', tarball, ...further);
}, TIMEOUT_MS);
afterAll(() => rm(path.dirname(tarball), { recursive: true, force: true, maxRetries: 3 }));

const withoutNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|VITEST)/i.test(name)));

/** As a user's terminal would: nothing of the npm that runs these tests reaches it. */
function npm(cwd: string, ...args: string[]) {
  const env = withoutNpm(process.env);
  const flags = args[0] === 'install' ? ['--silent', '--no-audit', '--no-fund', '--prefer-offline'] : [];
  return run('npm', [...args, ...flags], { cwd, env: { ...env, NO_COLOR: '1' }, timeout: TIMEOUT_MS });
}

/** What `npm run NAME` runs in a project below the one that is installed, without the second that npm takes to start. */
async function script(folder: string, name: string) {
  const { scripts } = await json(path.join(folder, 'package.json'));
  const bin = path.join(installed, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, NO_COLOR: '1' };
  return run('sh', ['-c', scripts![name]!], { cwd: folder, env: withoutNpm(env), timeout: TIMEOUT_MS });
}

const isUsable = (template: string) => template !== 'playwright' || browserPath !== undefined;

describe('a project of the packed package', () => {
  for (const template of Object.keys(TEMPLATES)) {
    it.runIf(isUsable(template))(
      `from the template ${template} passes npm test and runs npm start, offline`,
      async () => {
        const folder = path.join(installed, `my-${template}`);
        // By npm for the first, and by what npm would run for the others.
        const isFirst = template === Object.keys(TEMPLATES)[0];
        const orcrawl = path.join(installed, 'node_modules/.bin/orcrawl');
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
      const { stdout } = await npm(first, 'run', 'typecheck', '--', '--listFiles');
      for (const folder of folders) expect(stdout).toContain(`${folder}/src/`);
    },
    TIMEOUT_MS,
  );

  it(
    'begins in a folder with a package.json: what it says stays, what it lacks is added',
    async () => {
      const before = await json(path.join(installed, 'package.json'));
      const { stdout } = await npm(installed, 'exec', '--no', '--', 'orcrawl', 'init', '--yes');
      expect(stdout).toContain('from the template cheerio');
      expect(stdout).not.toContain('cd ');
      const after = await json(path.join(installed, 'package.json'));
      expect(after.dependencies!.orcrawl).toBe(before.dependencies!.orcrawl);
      expect(after.scripts!.test).toContain('routes.test.ts');
      // It has them already, in its own place.
      expect(after.dependencies).toEqual(before.dependencies);
      expect(after.devDependencies).toEqual({});
      await npm(installed, 'install');
      expect((await npm(installed, 'test')).stdout).toMatch(/pass 1\b/);
    },
    TIMEOUT_MS,
  );
});

/** What `orcrawl init` says on a terminal to somebody who answers its question. */
async function answered(cwd: string, folder: string, answer: string): Promise<string> {
  const line = `"${process.execPath}" "${MAIN}" init ${folder}`;
  const terminal = spawn('script', ['-qefc', line, '/dev/null'], { cwd, timeout: 60_000 });
  let said = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!said.includes('[1]') && (said + text).includes('[1]')) terminal.stdin.write(`${answer}\n`);
    said += text;
  });
  await once(terminal, 'close');
  return said;
}

describe('the question', () => {
  it('is asked on a terminal: a number or a name answers it', () =>
    inTemporaryFolder(async (folder) => {
      for (const [answer, template] of [
        ['3', 'batch'],
        ['pods', 'pods'],
        ['', 'cheerio'],
      ]) {
        const said = await answered(folder, `in-${template}`, answer!);
        expect(said).toContain(`from the template ${template}`);
        expect(await readdir(path.join(folder, `in-${template}`))).toContain('package.json');
      }
    }));
});

describe('files that are there', () => {
  it('are named and stay as they are; nothing is written', () =>
    inTemporaryFolder(async (folder) => {
      await mkdir(path.join(folder, 'src'));
      await writeFile(path.join(folder, 'src/main.ts'), 'mine');
      await writeFile(path.join(folder, 'README.md'), 'mine, too');
      const { code, stderr } = await init(folder, '--yes');
      expect(code).toBe(1);
      expect(stderr).toMatch(/already has .*src\/main\.ts/);
      expect(stderr).toContain('README.md');
      expect(await readdir(folder)).toEqual(['README.md', 'src']);
      expect(await readFile(path.join(folder, 'src/main.ts'), 'utf8')).toBe('mine');
    }));

  it('may be those of an earlier init: a second one completes it', () =>
    inTemporaryFolder(async (folder) => {
      expect((await init(folder, 'one', '--yes')).code).toBe(0);
      const again = await init(folder, 'one', '--yes');
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 files')]);
    }));

  it('keeps scripts of the user and says which', () =>
    inTemporaryFolder(async (folder) => {
      await writeFile(
        path.join(folder, 'package.json'),
        JSON.stringify({ name: 'mine', scripts: { start: 'node mine.js' } }),
      );
      const { code, stdout } = await init(folder, '--template', 'batch');
      expect([code, stdout]).toEqual([0, expect.stringContaining('keeps its own start')]);
      const { name, scripts } = await json(path.join(folder, 'package.json'));
      expect([name, scripts!.start]).toEqual(['mine', 'node mine.js']);
    }));

  it('refuses a package.json that is not JSON, and an unknown template', () =>
    inTemporaryFolder(async (folder) => {
      await writeFile(path.join(folder, 'package.json'), '{ oops');
      expect(await init(folder, '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('not valid JSON') });
      expect(await readdir(folder)).toEqual(['package.json']);
      expect(await init(folder, 'x', '--template', 'crawler')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('cheerio'),
      });
    }));
});
