// Writes a new project from a template.
// Promise: no file of the user's is changed, except that a package.json gets what it lacks; a second call completes
// what a first one left unfinished.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../exit-codes.js';
import { ownPackage } from '../version.js';
import { templateFiles } from './template-files.js';

export const TEMPLATES = {
  cheerio: 'a site over HTTP, with a DOM for each page',
  playwright: 'a site that needs a browser',
  batch: 'a list of URLs, one record each',
  pods: 'many sites, on pods',
} as const;

export type Template = keyof typeof TEMPLATES;

export interface NewProject {
  /** Those that were not there before. */
  readonly written: readonly string[];
  /** Scripts of the user's package.json that stay as they are, though the template has others. */
  readonly keptScripts: readonly string[];
}

type Versions = Record<string, string>;

interface PackageJson {
  name?: string;
  scripts?: Versions;
  dependencies?: Versions;
  devDependencies?: Versions;
  [key: string]: unknown;
}

/** npm's placeholder for a test that does not exist. */
const NO_TEST = /no test specified/;
const RUN = 'node --import jiti/register';
const TEST_FILE: Record<Template, string> = {
  cheerio: 'test/routes.test.ts',
  playwright: 'test/routes.test.ts',
  batch: 'test/record.test.ts',
  pods: 'test/routes.test.ts',
};

export async function createProject(folder: string, template: Template): Promise<NewProject> {
  const name = packageName(path.basename(path.resolve(folder)));
  const files = templateFiles(template);
  const fresh = new Map<string, string>();
  const foreign: string[] = [];
  for (const [place, text] of files) {
    const filled = text.replaceAll('{{name}}', name);
    const there = await textOf(path.join(folder, place));
    if (there === undefined) fresh.set(place, filled);
    // A .gitignore or tsconfig.json of the user's serves as well.
    else if (there !== filled && !place.startsWith('.') && place !== 'tsconfig.json') foreign.push(place);
  }
  if (foreign.length > 0) {
    throw new UsageError(
      `${folder} already has ${foreign.join(', ')}. Nothing was written. Choose another folder: orcrawl init DIR`,
    );
  }
  const manifest = path.join(folder, 'package.json');
  const before = await textOf(manifest);
  const { merged, keptScripts } = withDefaults(parsed(before, manifest), packageJson(name, template));
  for (const [place, text] of fresh) {
    const file = path.join(folder, place);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
  }
  // Last: a project that has it is complete.
  await writeFile(manifest, `${JSON.stringify(merged, null, 2)}\n`);
  return { written: [...fresh.keys(), ...(before === undefined ? ['package.json'] : [])], keptScripts };
}

function packageJson(name: string, template: Template): PackageJson {
  // The versions that this release is tested with.
  const { version, dependencies, devDependencies } = ownPackage();
  const take = (from: Readonly<Versions>, ...names: string[]): Versions =>
    Object.fromEntries(names.map((one) => [one, from[one]!]));
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: {
      start: `${RUN} src/${template === 'pods' ? 'trial' : 'main'}.ts`,
      ...(template === 'pods' && { crawl: 'orcrawl run --config crawl.yaml' }),
      test: `${RUN} --test ${TEST_FILE[template]}`,
      typecheck: 'tsc',
    },
    dependencies: {
      jiti: dependencies.jiti!,
      orcrawl: `^${version}`,
      ...(template === 'playwright' && take(devDependencies, 'playwright-core')),
    },
    devDependencies: take(devDependencies, '@types/node', 'typescript'),
  };
}

/** What the user's package.json says stays; what it lacks is added. */
function withDefaults(own: PackageJson, defaults: PackageJson): { merged: PackageJson; keptScripts: string[] } {
  const scripts = { ...own.scripts };
  if (NO_TEST.test(scripts.test ?? '')) delete scripts.test;
  const keptScripts = Object.keys(scripts).filter(
    (name) => (defaults.scripts?.[name] ?? scripts[name]) !== scripts[name],
  );
  const known = { ...own.dependencies, ...own.devDependencies };
  const lacking = (wanted: Versions = {}): Versions =>
    Object.fromEntries(Object.entries(wanted).filter(([name]) => !(name in known)));
  const merged = {
    ...defaults,
    ...own,
    type: 'module',
    scripts: { ...defaults.scripts, ...scripts },
    dependencies: { ...lacking(defaults.dependencies), ...own.dependencies },
    devDependencies: { ...lacking(defaults.devDependencies), ...own.devDependencies },
  };
  return { merged, keptScripts };
}

function parsed(text: string | undefined, file: string): PackageJson {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PackageJson;
  } catch {
    // Said below.
  }
  throw new UsageError(`${file} is not valid JSON. Nothing was written. Correct it, or choose another folder`);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A name that npm accepts. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 100)
    .replace(/-$/, '');
  return name === '' ? 'crawler' : name;
}
