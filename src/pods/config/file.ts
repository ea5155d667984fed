// Reads the YAML of a pods configuration into checked values, by snake_case key.
// Promise: problems are returned as sentences that name the key; nothing is thrown, whatever the file contains.
import { readFile, stat } from 'node:fs/promises';
import { type Check, nearestName, shown } from '../../option-checks.js';
import {
  camelCase,
  CLUSTER_KEYS,
  WATCH_KEYS,
  FILE_KEYS,
  type FileKey,
  POD_KEYS,
  SENTINEL_KEYS,
  snakeCase,
  TEST_MODE_KEYS,
} from './keys.js';
import { PODS_ALIASES } from '../../setting-names.js';

export interface TestMode {
  readonly enabled?: boolean;
  readonly num_pods?: number;
  readonly fetchers_per_pod?: number;
  readonly parsers_per_pod?: number;
  readonly data_dirs?: readonly string[];
}

export interface FilePod {
  readonly redis_url?: string;
  readonly path?: string;
}

/** Servers that all pods share: a cluster, or Sentinels and the `name` of the master they watch. */
export interface FileShared {
  readonly nodes?: readonly string[];
  readonly name?: string;
  readonly prefix?: string;
}

/** Only values that passed their check; missing keys are absent. */
export type FileValues = {
  readonly [Key in Exclude<FileKey, 'pods' | 'cluster' | 'sentinel' | 'test_mode'>]?: unknown;
} & {
  readonly pods?: readonly FilePod[];
  readonly cluster?: FileShared;
  readonly sentinel?: FileShared;
  readonly test_mode?: TestMode;
};

/** The file's values. */
export interface ConfigFile {
  readonly values: FileValues;
  /** Keys with an invalid value, already reported. */
  readonly wrong: ReadonlySet<FileKey>;
}

const MAX_FILE_BYTES = 4 * 1024 ** 2;
/** An unreadable file may have an error on every line. */
const MAX_YAML_PROBLEMS = 20;

/** The file's values and problems; undefined if it is not a configuration. */
export async function readConfigFile(file: string, problems: string[]): Promise<ConfigFile | undefined> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it is too large for a configuration (${size} bytes)`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    problems.push(
      `the configuration ${file} cannot be read: ${isMissing ? 'file not found' : (error as Error).message}`,
    );
    return undefined;
  }
  return readConfigText(text, file, problems);
}

/** The values and problems of a YAML text; `file` is its name in messages. */
export async function readConfigText(text: string, file: string, problems: string[]): Promise<ConfigFile | undefined> {
  const { isMap, isScalar, LineCounter, parseDocument, visit } = await import('yaml');
  const lineCounter = new LineCounter();
  const wrong = new Set<string>();
  const refuse = (what: string): void => {
    const said = what.includes('call stack') ? 'it is nested too deeply' : what;
    if (wrong.size < MAX_YAML_PROBLEMS) wrong.add(said);
  };
  let content: unknown;
  try {
    // Its own check for repeated keys compares each with each.
    const document = parseDocument(text, { prettyErrors: true, uniqueKeys: false, lineCounter });
    for (const { message } of document.errors.slice(0, MAX_YAML_PROBLEMS)) {
      refuse(message.split('\n', 1)[0]!.replace(/:$/, ''));
    }
    visit(document, (_key, node) => {
      if (!isMap(node)) return;
      const names = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value)) {
          const { line, col } = lineCounter.linePos(key.range?.[0] ?? 0);
          refuse(`Map keys must be unique at line ${line}, column ${col}`);
        }
        names.add(key.value);
      }
    });
    if (wrong.size === 0) content = document.toJS({ maxAliasCount: 100 });
    if (isCircular(content)) refuse('an alias stands within what it names');
  } catch (error) {
    refuse((error as Error).message);
  }
  for (const problem of wrong) problems.push(`${file} is not valid YAML: ${problem}`);
  if (wrong.size > 0) return undefined;
  if (content === null || content === undefined) return { values: {}, wrong: new Set() };
  if (typeof content !== 'object' || Array.isArray(content)) {
    problems.push(`${file} must hold keys with values, got ${shown(content)}`);
    return undefined;
  }
  return checkedValues(content as Record<string, unknown>, problems);
}

/** Whether a value holds itself. Each object is looked at once, however often it is named. */
function isCircular(value: unknown, above = new Set<object>(), done = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || done.has(value)) return false;
  if (above.has(value)) return true;
  above.add(value);
  const found = Object.values(value).some((one) => isCircular(one, above, done));
  above.delete(value);
  done.add(value);
  return found;
}

function checkedValues(content: Record<string, unknown>, problems: string[]): ConfigFile {
  const wrong = new Set<FileKey>();
  const {
    pods,
    cluster,
    sentinel,
    watch,
    test_mode: testMode,
    ...rest
  } = checkedKeys(content, FILE_KEYS, '', problems, wrong);
  const group = (given: unknown, keys: Readonly<Record<string, Check>>, name: string) =>
    given === undefined ? {} : { [name]: checkedKeys(given as Record<string, unknown>, keys, `${name}.`, problems) };
  const list = (pods as readonly (Record<string, unknown> | string)[] | undefined)?.map(podEntry);
  const values = {
    ...rest,
    ...(list && { pods: list.map((pod, index) => checkedKeys(pod, POD_KEYS, `pods[${index}].`, problems)) }),
    ...group(cluster, CLUSTER_KEYS, 'cluster'),
    ...group(sentinel, SENTINEL_KEYS, 'sentinel'),
    ...group(watch, WATCH_KEYS, 'watch'),
    ...group(testMode, TEST_MODE_KEYS, 'test_mode'),
  };
  return { values: values as FileValues, wrong };
}

/** A pod written as plain text: an address, or a folder. */
function podEntry(pod: Record<string, unknown> | string): Record<string, unknown> {
  if (typeof pod !== 'string') return pod;
  const text = pod.trim();
  if (/^(?:[a-z][\w+.-]*:\/\/|unix:)/i.test(text)) return { redis_url: text };
  return /^[\w.-]+:\d{1,5}$/.test(text) ? { redis_url: `redis://${text}` } : { path: text };
}

/** The values under known keys, in either spelling, that their check accepts. */
function checkedKeys<Key extends string>(
  given: Readonly<Record<string, unknown>>,
  keys: Readonly<Record<Key, Check>>,
  path: string,
  problems: string[],
  wrong: Set<Key> = new Set(),
): { [K in Key]?: unknown } {
  const known = Object.keys(keys) as Key[];
  const spellings = new Map(known.flatMap((key) => [[key as string, key] as const, [camelCase(key), key] as const]));
  for (const [alias, key] of Object.entries(PODS_ALIASES)) {
    if (!Object.hasOwn(keys, key)) continue;
    for (const name of [alias, snakeCase(alias)]) spellings.set(name, key as Key);
  }
  const values: { [K in Key]?: unknown } = {};
  const said = new Map<Key, string>();
  for (const [name, value] of Object.entries(given)) {
    const key = spellings.get(name);
    if (key === undefined) {
      problems.push(unknownKey(path, name, known));
      continue;
    }
    const before = said.get(key);
    if (before !== undefined) {
      problems.push(`${path}${key} is given twice, as ${before} and as ${name}`);
      continue;
    }
    said.set(key, name);
    if (value === null || value === undefined) continue;
    if (keys[key].accepts(value)) values[key] = value;
    else {
      wrong.add(key);
      problems.push(`${path}${name} must be ${keys[key].expected}, got ${shown(value)}`);
    }
  }
  return values;
}

/** Options of other crawls that pods cannot have, and what to use. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  enough: 'pods cannot end a crawl by it, since no process sees all pages; use max_pages or max_duration',
};

function unknownKey(path: string, name: string, known: readonly string[]): string {
  if (path === '' && Object.hasOwn(ELSEWHERE, name)) return `unknown key ${name}: ${ELSEWHERE[name]}`;
  const nearest = nearestName(name, [...known, ...known.map(camelCase)]);
  return `unknown key ${path}${name.slice(0, 80)}${nearest === undefined ? '' : `, did you mean ${nearest}?`}`;
}
