// The Lua that runs inside Redis, read from lua/ on first use: one file per script, joined with the parts it includes.
// A script is atomic, so its guarantees hold however many processes call it at once.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type ScriptName =
  | 'open'
  | 'add'
  | 'lease'
  | 'settle'
  | 'release'
  | 'overview'
  | 'find'
  | 'recover'
  | 'keep'
  | 'spilled'
  | 'refill'
  | 'pull'
  | 'reading'
  | 'allowance'
  | 'own'
  | 'lead';

export interface Script {
  readonly source: string;
  readonly sha: string;
}

const read = (file: string): string => readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8');
const composed = new Map<ScriptName, Script>();

/** A script as sent to Redis. */
export function scriptOf(name: ScriptName): Script {
  let script = composed.get(name);
  if (!script) {
    const source = compose(read(name));
    script = { source, sha: createHash('sha1').update(source).digest('hex') };
    composed.set(name, script);
  }
  return script;
}

/** The line `--@include a b` becomes the files part-a.lua and part-b.lua; comments are removed. */
function compose(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith(INCLUDE) ? line.slice(INCLUDE.length).split(' ').flatMap(partLines) : [line]))
    .filter((line, index) => index === 0 || !/^\s*(--|$)/.test(line))
    .join('\n');
}

const INCLUDE = '--@include ';

function partLines(part: string): string[] {
  return read(`part-${part}`).split('\n');
}
