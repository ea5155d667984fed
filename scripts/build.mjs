// Builds dist/ from src/, from scratch: tsc writes the types, file by file (`npm run typecheck` checks them); rolldown
// writes the code, in few chunks, because what `import 'orcrawl'` costs is the number of files it loads. What loads
// lazily stays apart. Runs on `npm ci` (prepare) and before the tests, so that what is tested is what ships; with
// --if-changed it leaves a dist/ alone that was made from the same files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const PUBLIC = ['index', 'testing/index', 'cli/main'];
const sources = readdirSync('src', { recursive: true }).map((file) => file.replaceAll('\\', '/'));

/** A module that names a file beside it, and the entry of a process, keep their place: they are entries too. */
function keepsItsPlace(file) {
  if (!file.endsWith('.ts') || file.endsWith('.test.ts')) return false;
  return /(^|[-/])child\.ts$/.test(file) || /new URL\(\s*[`'"]\.\.?\//.test(readFileSync(join('src', file), 'utf8'));
}

const STAMP = 'dist/.made-from';

/** Names everything that dist/ is made from. */
function sourcesHash() {
  const hash = createHash('sha256').update(process.version);
  const files = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
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

const names = [...PUBLIC, ...sources.filter(keepsItsPlace).map((file) => file.slice(0, -'.ts'.length))];
const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  // Packages stay packages; `node:` modules come with the platform.
  external: (id) => !/^[./]|^[a-z]:[\\/]|^src\//i.test(id),
  transform: { target: 'es2022' },
  checks: { ineffectiveDynamicImport: false },
});
await bundle.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  // One folder deep, as most sources are, so that `../../package.json` means the same in them.
  chunkFileNames: 'chunks/[name].js',
  // A class keeps its name in messages where two of one name meet.
  keepNames: true,
  // For bench/profile.ts; not shipped, and not named in the code.
  sourcemap: 'hidden',
});
await bundle.close();
// A module that names a file beside it must not share its chunk with others: it would look in the wrong folder.
for (const file of readdirSync('dist/chunks').filter((name) => name.endsWith('.js'))) {
  const named = /new URL\(\s*[`'"]\.\/[^)]*import\.meta\.url/.exec(readFileSync(join('dist/chunks', file), 'utf8'));
  if (named)
    throw new Error(`dist/chunks/${file} has lost its place: ${named[0]}. Put what reads the file into a module alone`);
}
for (const file of sources) if (/\.(lua|bin|txt|yml|json)$/.test(file)) cpSync(join('src', file), join('dist', file));
chmodSync('dist/cli/main.js', 0o755);
writeFileSync(STAMP, madeFrom);
