// Where a worker process begins. A module alone: bundled with others it would look in the wrong folder.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The child's file: beside this one when built; from source it needs the TypeScript loader of this repository. */
export function childEntry(): { file: string; execArgv: string[] } {
  const built = fileURLToPath(new URL('../worker/child.js', import.meta.url));
  if (existsSync(built)) return { file: built, execArgv: [] };
  return {
    file: fileURLToPath(new URL('../worker/child.ts', import.meta.url)),
    execArgv: ['--import', 'jiti/register'],
  };
}
