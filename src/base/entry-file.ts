// The file at which a process or thread of this package begins: built in dist/, TypeScript when run from source.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The TypeScript loader of this repository; not part of the package. */
const LOADER = '../../scripts/typescript.mjs';

/** @param built named by a module alone in its file: bundled with others it would look in the wrong folder */
export function entryFile(built: URL): { readonly file: string; readonly execArgv: string[] } {
  const file = fileURLToPath(built);
  if (existsSync(file)) return { file, execArgv: [] };
  return { file: file.replace(/\.js$/, '.ts'), execArgv: ['--import', new URL(LOADER, import.meta.url).href] };
}
