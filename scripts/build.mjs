// Builds dist/ from src/, from scratch: tsc writes the types, file by file (`npm run typecheck` checks them); rolldown
// writes the code, in few chunks, because what `import 'orcrawl'` costs is the number of files it loads. What loads
// lazily stays apart. Runs on `npm ci` (prepare) and before the tests, so that what is tested is what ships; with
// --if-changed it leaves a dist/ alone that was made from the same files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildConsole } from './build-console.mjs';
import { bundleSources, sources } from './bundle.mjs';

/** What package.json names, and the command line as a function for the scripts of this repository. */
const ENTRIES = ['index', 'testing/index', 'crawlee/entry', 'postgres/index', 'cli/main', 'cli/command-line'];
const STAMP = 'dist/.made-from';

/** Names everything that dist/ is made from. */
function sourcesHash() {
  const hash = createHash('sha256').update(process.version);
  const files = [
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.mjs',
    'scripts/build-console.mjs',
    'scripts/bundle.mjs',
  ];
  for (const file of sources) if (statSync(join('src', file)).isFile()) files.push(`src/${file}`);
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

const madeFrom = sourcesHash();
if (process.argv.includes('--if-changed') && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === madeFrom) {
  process.exit(0);
}
rmSync('dist', { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
// The maps are for bench/profile.ts; they are not shipped, and not named in the code.
await bundleSources(ENTRIES, 'dist', 'hidden');
await buildConsole();
chmodSync('dist/cli/main.js', 0o755);
writeFileSync(STAMP, madeFrom);
