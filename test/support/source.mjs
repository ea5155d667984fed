// Imports a module of src/ into a process of a test: `await source('store/content/content')`. It comes from the bundle
// that vitest made (scripts/test-sources.mjs), or, where there is none, through the TypeScript loader.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { ORCRAWL_TEST_SOURCES: bundle } = process.env;

export async function source(name) {
  const built = `${bundle}${name}.js`;
  if (bundle !== undefined && existsSync(built)) return import(pathToFileURL(built).href);
  await import('../../scripts/typescript.mjs');
  return import(`../../src/${name}.ts`);
}
