// Uses page memories one after the other: reads and writes all of each, and prints how that ended. `die FOLDER`: is killed
// amid its writes.
import { openLmdbMemory } from '../../../src/fresh/memory/memory-lmdb.js';
import { newPage } from '../../../src/fresh/memory/new-page.js';
import { fingerprintOf } from '../../../src/request/fingerprint.js';

const COUNT = 1_500;

function visitOf(n: number, etag: string) {
  const url = `https://a.example/${n}/${'x'.repeat(n % 300)}`;
  const key = fingerprintOf(url);
  const markdown = Array.from({ length: 3_000 }, (_, at) => (at * n) % 977).join(' ');
  return {
    key,
    request: key,
    page: { ...newPage(1_000 + n, 200), nextVisitAt: 2_000 + n },
    names: { url, etag, lastModified: undefined },
    version: n % 50 === 0 ? { markdown } : undefined,
  };
}

/** What became of it: `used N`, by the pages that were in it, or `refused CODE`. */
export async function useMemory(folder: string, dies = false): Promise<string> {
  try {
    const memory = await openLmdbMemory(folder);
    const made = [...memory.pages()].length;
    for (let n = 0; n < COUNT; n++) memory.versionOf(visitOf(n, '').key);
    memory.due(1e9, 1e6);
    for (let from = 0; from < COUNT; from += 100) {
      const visits = Array.from({ length: 100 }, (_, n) => visitOf(from + n, `"${made}"`));
      await memory.stage(visits);
      memory.settle(visits, true);
      if (dies && from === 1_000) process.kill(process.pid, 'SIGKILL');
    }
    await memory.close();
    return `used ${made}`;
  } catch (error) {
    return `refused ${(error as { code?: string }).code}`;
  }
}

const [, script = '', first, ...rest] = process.argv;
if (script.endsWith('page-memory.ts')) {
  if (first === 'die') await useMemory(rest[0]!, true);
  else for (const folder of [first!, ...rest]) process.stdout.write(`${await useMemory(folder)}\n`);
}
