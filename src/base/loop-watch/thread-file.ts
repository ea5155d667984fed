// Where the watching thread's file is: beside this one when built; from source it needs the TypeScript loader of this repository.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function threadFile(): { readonly file: string; readonly execArgv: string[] } {
  const built = fileURLToPath(new URL('./thread.js', import.meta.url));
  if (existsSync(built)) return { file: built, execArgv: [] };
  return { file: fileURLToPath(new URL('./thread.ts', import.meta.url)), execArgv: ['--import', 'jiti/register'] };
}
