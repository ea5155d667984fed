// Bundles src/ with rolldown: into dist/ (build.mjs), and for the tests (test-sources.mjs). Promise: both have the same
// form, so what the tests import behaves as what ships.
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

export const sources = readdirSync('src', { recursive: true }).map((file) => file.replaceAll('\\', '/'));

/** A module that names a file beside it, and the entry of a process or thread, keep their place: they are entries too. */
function keepsItsPlace(file) {
  if (!file.endsWith('.ts') || file.startsWith('console/') || file.endsWith('.test.ts')) return false;
  return (
    /(^|[-/])(child|thread)\.ts$/.test(file) || /new URL\(\s*[`'"]\.\.?\//.test(readFileSync(join('src', file), 'utf8'))
  );
}

/** Writes `entries` (`cli/main` for src/cli/main.ts), all that they import, and the data files beside them. */
export async function bundleSources(entries, dir, sourcemap) {
  const names = [...entries, ...sources.filter(keepsItsPlace).map((file) => file.slice(0, -'.ts'.length))];
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    // Packages stay packages; `node:` modules come with the platform.
    external: (id) => !/^[./]|^[a-z]:[\\/]|^src\//i.test(id),
    transform: { target: 'es2022' },
    checks: { ineffectiveDynamicImport: false },
  });
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    // One folder deep, as most sources are, so that `../../package.json` means the same in them.
    chunkFileNames: 'chunks/[name].js',
    // A class keeps its name in messages where two of one name meet.
    keepNames: true,
    sourcemap,
  });
  await bundle.close();
  // A module that names a file beside it must not share its chunk with others: it would look in the wrong folder.
  for (const file of readdirSync(join(dir, 'chunks')).filter((name) => name.endsWith('.js'))) {
    const named = /new URL\(\s*[`'"]\.\/[^)]*import\.meta\.url/.exec(readFileSync(join(dir, 'chunks', file), 'utf8'));
    if (named)
      throw new Error(
        `${dir}/chunks/${file} has lost its place: ${named[0]}. Put what reads the file into a module alone`,
      );
  }
  for (const file of sources)
    if (/^(?!console\/).*\.(lua|sql|bin|txt|yml|json)$/.test(file)) cpSync(join('src', file), join(dir, file));
}
