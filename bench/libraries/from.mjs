// Loads packages from a folder outside the project, and measures CPU time.
import { createJiti } from 'jiti';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export const folder = path.resolve(process.argv[2] ?? '.');
const require = createRequire(path.join(folder, 'package.json'));

const jiti = createJiti(import.meta.url);

/** A module of src/. */
export const source = (file) => jiti.import(`../../src/${file}`);

export const load = async (name) => {
  const loaded = await import(pathToFileURL(require.resolve(name)).href);
  return loaded.default ?? loaded;
};

/** CPU-ms that `work` takes, and what it gives. */
export async function cpuMs(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, result];
}

export const best = async (work, rounds = 5) => {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) least = Math.min(least, (await cpuMs(work))[0]);
  return least;
};
