// A vite plugin: tests under test/ import src/ from a bundle that is made once per run, and Node loads that itself.
// vitest would compile the sources for each project and link them module by module in each file: 0.55 CPU-seconds of a
// file that imports src/index.ts, instead of 0.19. The bundle is in .tests/, by what it was made from; data files,
// processes and threads are found beside it as in dist/. While it watches, vitest reads the sources as they are.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { bundleSources, sources } from './bundle.mjs';

const FOLDER = resolve('.tests');
const SRC = resolve('src') + sep;
const TEST = resolve('test') + sep;
/** A run that began this long ago is over. */
const OLD_MS = 6 * 3_600_000;

/** The modules that tests import, `index` for src/index.ts. */
function entries() {
  const names = new Set(['index']);
  for (const file of readdirSync(TEST, { recursive: true })) {
    if (!/\.m?ts$|\.mjs$/.test(file)) continue;
    const text = readFileSync(join(TEST, file), 'utf8');
    const imported = text.matchAll(/['"](?:\.\.\/)+src\/([\w./-]+)\.[jt]s['"]|\bsource\('([\w./-]+)'\)/g);
    for (const [, name, named = name] of imported) if (existsSync(`src/${named}.ts`)) names.add(named);
  }
  return [...names].sort();
}

/** Where the bundle of these sources is, made or not. */
function homeOf(names) {
  const hash = createHash('sha256').update(`${process.version} ${names}`).update(readFileSync('scripts/bundle.mjs'));
  for (const file of sources) {
    const place = join('src', file);
    if (!file.endsWith('.test.ts') && statSync(place).isFile()) hash.update(`\0${file}\0`).update(readFileSync(place));
  }
  return join(FOLDER, hash.digest('hex').slice(0, 16));
}

async function make(home, names) {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) {
    const other = join(FOLDER, name);
    if (Date.now() - statSync(other).mtimeMs > OLD_MS) rmSync(other, { recursive: true, force: true });
  }
  const making = `${home}.${process.pid}`;
  await bundleSources(names, join(making, 'dist'), true);
  // What the code expects beside dist/, and the console's page in it.
  for (const name of ['package.json', 'templates', 'scripts']) symlinkSync(resolve(name), join(making, name));
  symlinkSync(resolve('dist/console'), join(making, 'dist/console'));
  try {
    renameSync(making, home);
  } catch (error) {
    if (!existsSync(home)) throw error; // another run was faster
    rmSync(making, { recursive: true });
  }
}

export function testSources() {
  if (!process.argv.some((argument) => /^(?:--)?run$/.test(argument))) return { name: 'test-sources' };
  const names = entries();
  const home = homeOf(names);
  // Processes of tests, too: ./typescript-hooks.mjs reads this.
  process.env.ORCRAWL_TEST_SOURCES = join(home, 'dist') + sep;
  let made;
  return {
    name: 'test-sources',
    enforce: 'pre',
    config: () => ({ test: { server: { deps: { external: [/\/\.tests\//] } } } }),
    async resolveId(source, importer) {
      if (!importer?.startsWith(TEST) || !/^\.\.\/.*\.js$/.test(source)) return undefined;
      const file = resolve(dirname(importer), source.replace(/\.js$/, '.ts'));
      if (!file.startsWith(SRC) || !existsSync(file)) return undefined;
      made ??= existsSync(home) ? Promise.resolve() : make(home, names);
      await made;
      return { id: join(home, 'dist', file.slice(SRC.length).replace(/\.ts$/, '.js')), external: true };
    },
  };
}
