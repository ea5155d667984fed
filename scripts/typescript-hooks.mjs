// The hooks of ./typescript.mjs: `./x.js` is `./x.ts` where there is one, and types are taken out. What a process of the
// tests imports of src/ is read from the bundle of ./test-sources.mjs.
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'rolldown/utils';

const SRC = new URL('../src/', import.meta.url).href;
const { ORCRAWL_TEST_SOURCES: bundle } = process.env;

const USING = { url: new URL('./using-context.mjs', import.meta.url).href, format: 'module', shortCircuit: true };

export function resolve(specifier, context, nextResolve) {
  if (specifier === '@oxc-project/runtime/helpers/usingCtx') return USING;
  if (/^(?:\.|file:).*\.[jt]s$/.test(specifier) && context.parentURL !== undefined) {
    const url = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (bundle !== undefined && url.href.startsWith(SRC) && !context.parentURL.startsWith(SRC)) {
      const built = pathToFileURL(bundle + url.href.slice(SRC.length).replace(/\.ts$/, '.js'));
      if (existsSync(built)) return { url: built.href, format: 'module', shortCircuit: true };
    }
    if (existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
  }
  return nextResolve(specifier, context);
}

export async function load(url, context, nextLoad) {
  if (!/^file:.*\.m?ts$/.test(url)) return nextLoad(url, context);
  const file = fileURLToPath(url);
  const { code, errors } = transformSync(file, await readFile(file, 'utf8'), {
    lang: 'ts',
    sourceType: 'module',
    target: 'es2024',
  });
  if (errors.length > 0) throw errors[0];
  return { format: 'module', source: code, shortCircuit: true };
}
