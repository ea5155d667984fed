// The Lua of the shared job store, read from lua/ on first use: each script is one atomic step.
import { readFileSync } from 'node:fs';

export type JobScript = 'put' | 'add' | 'create' | 'end' | 'append' | 'claim' | 'monitor';

const known = new Map<JobScript, string>();

export function jobScript(name: JobScript): string {
  let source = known.get(name);
  if (source === undefined) {
    source = readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
    known.set(name, source);
  }
  return source;
}
