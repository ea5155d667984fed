// Runs every scenario under Crawlee and under this build, each in a process and an empty folder of its own, and compares
// what came out. A scenario may say that it differs on purpose, and why; any other difference is a failure. Scenarios are
// those of areas/, which get the library as an object, and the samples of samples/, which import from 'crawlee'.
import { fork, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// @ts-expect-error -- a script without types
import { loadSamples } from './load-samples.mjs';
// @ts-expect-error -- data without types
import { PURPOSES } from './purposes.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const OURS = fileURLToPath(new URL('../../dist/crawlee/entry.js', import.meta.url));
const CACHE = process.env['ORCRAWL_BENCH_CACHE'] ?? join(tmpdir(), 'orcrawl-bench-peers');
const TIMEOUT_MS = 90_000;
export const PARTS = [
  'core',
  'utils',
  'basic',
  'http',
  'cheerio',
  'browser',
  'browser-pool',
  'playwright',
  'memory-storage',
];
const VERSION = '3.18';
const NO_OUTCOME = 'no outcome';

export interface Compared {
  readonly area: string;
  readonly name: string;
  readonly isSame: boolean;
  /** Why it differs on purpose. */
  readonly purpose?: string;
  readonly theirs: string;
  readonly ours: string;
}

/** Crawlee's packages as one module, installed on first use into a cache outside the project. */
export function installCrawlee(): string {
  const folder = join(CACHE, `crawlee-parity-${VERSION}`);
  const entry = join(folder, 'all.cjs');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const packages = PARTS.filter((part) => part !== 'browser').map((part) => `@crawlee/${part}@${VERSION}`);
    const args = [
      'install',
      '--silent',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      ...packages,
      'playwright@1.56.1',
    ];
    const { status } = spawnSync('npm', args, { stdio: 'inherit', cwd: folder });
    if (status !== 0) throw new Error(`npm could not install Crawlee ${VERSION}`);
    const lines = `for (const part of ${JSON.stringify(PARTS)}) {\n  const names = require('@crawlee/' + part);\n  for (const name of Object.keys(names)) exports[name] ??= names[name];\n}\n`;
    writeFileSync(entry, lines);
  }
  return entry;
}

export interface Scenario {
  readonly area: string;
  readonly file: string;
  readonly name: string;
  readonly purpose?: string;
  /** Leaves nothing behind: all of its file share a process. */
  readonly isLight: boolean;
}

export async function listScenarios(only = /(?:)/, isLightOnly = false): Promise<Scenario[]> {
  const found: Scenario[] = [];
  for (const file of readdirSync(join(HERE, 'areas')).sort()) {
    const path = join(HERE, 'areas', file);
    const { scenarios, isLight = false } = (await import(pathToFileURL(path).href)) as {
      scenarios: Record<string, unknown>;
      isLight?: boolean;
    };
    found.push(...named(path, scenarios, isLight));
  }
  if (isLightOnly) return found.filter(({ name, isLight }) => isLight && only.test(name));
  // The compiler is loaded for samples alone.
  const { compiledSamples } = await import('./samples.js');
  for (const path of compiledSamples()) {
    const { scenarios } = loadSamples(path, {}) as { scenarios: Record<string, unknown> };
    found.push(...named(path, scenarios, false));
  }
  return found.filter(({ name }) => only.test(name));
}

function named(file: string, scenarios: Record<string, unknown>, isLight: boolean): Scenario[] {
  return Object.keys(scenarios).map((name) => {
    const purpose = (PURPOSES as Record<string, string>)[name];
    return { area: name.slice(0, name.indexOf(':')), file, name, isLight, ...(purpose ? { purpose } : {}) };
  });
}

/** Every scenario, two processes at a time; without Crawlee's path, beside what it said when it was measured last. */
export async function compareAll(
  scenarios: readonly Scenario[],
  crawlee: string | undefined,
  onResult: (result: Compared) => void,
): Promise<Compared[]> {
  const results: Compared[] = [];
  const work = groups(scenarios)[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      for (const group of work) {
        for (const result of await compare(group, crawlee)) {
          results.push(result);
          onResult(result);
        }
      }
    }),
  );
  return results;
}

/** Light ones of a file together, each other one alone. */
function groups(scenarios: readonly Scenario[]): Scenario[][] {
  const light = new Map<string, Scenario[]>();
  for (const one of scenarios) if (one.isLight) light.set(one.file, [...(light.get(one.file) ?? []), one]);
  return [...light.values(), ...scenarios.filter(({ isLight }) => !isLight).map((one) => [one])];
}

/** What Crawlee said when it was measured last, by script: the short version in the tests compares with it. */
export const OUTCOMES = join(HERE, 'outcomes.json');

/** What this build says to scripts of one file, by name. */
export function ourOutcomes(group: readonly Scenario[]): Promise<Map<string, string>> {
  // Some need a package that Crawlee brings (jquery), if it was installed for the whole measure.
  const folder = join(CACHE, `crawlee-parity-${VERSION}`);
  return outcomesOf(OURS, group, existsSync(folder) ? folder : undefined);
}

async function compare(group: readonly Scenario[], crawlee: string | undefined): Promise<Compared[]> {
  const theirs = crawlee === undefined ? stored() : await outcomesOf(crawlee, group, dirname(crawlee));
  const ours = await ourOutcomes(group);
  return group.map(({ area, name, purpose }) => {
    const [one, other] = [theirs.get(name) ?? NO_OUTCOME, ours.get(name)!];
    // A script that is wrong itself fails the same way under both, and shows nothing.
    const isWrong = /^\{"error":"(?:TypeError|ReferenceError)"/.test(one) || one.startsWith(NO_OUTCOME);
    return { area, name, isSame: !isWrong && one === other, ...(purpose ? { purpose } : {}), theirs: one, ours: other };
  });
}

function stored(): Map<string, string> {
  return new Map(Object.entries(JSON.parse(readFileSync(OUTCOMES, 'utf8')) as Record<string, string>));
}

/** Scripts that a busy machine cut off are run once more. */
async function outcomesOf(library: string, group: readonly Scenario[], folder?: string): Promise<Map<string, string>> {
  const outcomes = await runOnce(library, group, folder);
  const missing = group.filter(({ name }) => outcomes.get(name)!.startsWith(NO_OUTCOME));
  if (missing.length > 0) for (const pair of await runOnce(library, missing, folder)) outcomes.set(...pair);
  return outcomes;
}

function runOnce(library: string, group: readonly Scenario[], folder?: string): Promise<Map<string, string>> {
  const cwd = mkdtempSync(join(tmpdir(), 'parity-'));
  // A project of a user, with what Crawlee brings (jquery) installed.
  if (folder !== undefined) symlinkSync(join(folder, 'node_modules'), join(cwd, 'node_modules'));
  const env = { ...process.env, CRAWLEE_LOG_LEVEL: 'OFF', CRAWLEE_AVAILABLE_MEMORY_RATIO: '0.5' };
  const names = group.map(({ name }) => name);
  const child = fork(join(HERE, 'child.mjs'), [library, group[0]!.file, ...names], {
    cwd,
    env,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => (said = (said + bytes.toString()).slice(-400)));
  return new Promise((resolve) => {
    const outcomes = new Map<string, string>();
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    child.on('message', ({ name, text }: { name: string; text: string }) => outcomes.set(name, text));
    child.on('exit', () => {
      clearTimeout(timer);
      rmSync(cwd, { recursive: true, force: true });
      resolve(new Map(names.map((name) => [name, outcomes.get(name) ?? `${NO_OUTCOME}: ${said}`])));
    });
  });
}
