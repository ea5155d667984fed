// Loads a module of the user's by its path, also one in TypeScript.
// Promise: the exports as they are; a CommonJS module's exports are the default of its namespace.
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

const TYPESCRIPT = new Set(['.ts', '.mts', '.cts', '.tsx']);

export async function importModule(file: string): Promise<Record<string, unknown>> {
  if (!TYPESCRIPT.has(extname(file))) return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const { createJiti } = createRequire(import.meta.url)('jiti') as typeof import('jiti');
  return createJiti(import.meta.url).import<Record<string, unknown>>(file);
}

/** A function among the exports, by the first of these names that has one. */
export function functionIn(exported: Record<string, unknown>, names: readonly string[]): unknown {
  const nested = exported.default as Record<string, unknown> | undefined;
  return names.flatMap((name) => [exported[name], nested?.[name]]).find((one) => typeof one === 'function');
}
