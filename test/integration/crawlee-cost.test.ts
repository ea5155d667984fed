// What the adapters for Crawlee cost a program that does not use them: `import 'orcrawl'` loads the small parts that it
// exports by Crawlee's names, and none of the crawlers, pools, storages over clients, sessions and clients of
// `orcrawl/crawlee`, nor a package that is an optional peer.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMPORTED = /(?:^|\n)\s*(?:import|export)\b[^;'"]*?["']([^"']+)["']/g;

/** The files that an entry of dist/ loads before anything is called, and the packages they name. */
function loadedBy(entry: string): { sources: string[]; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const walk = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, name] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
      if (name!.startsWith('.')) walk(join(dirname(file), name!));
      else packages.add(name!);
    }
  };
  walk(join(ROOT, 'dist', entry));
  const sources = [...files].flatMap((file) => {
    if (!existsSync(`${file}.map`)) return [];
    const { sources: from } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] };
    return from.map((source) => relative(ROOT, resolve(dirname(file), source)));
  });
  return { sources: [...new Set(sources)].filter((source) => source.startsWith('src/crawlee/')).sort(), packages };
}

describe("import 'orcrawl'", () => {
  it('loads of src/crawlee only what it exports by name', () => {
    const { sources, packages } = loadedBy('index.js');
    const folders = /^src\/crawlee\/(?:browsers|crawlers|sessions|load)\/|client|impit|statistics|snapshotter/;
    const small = 'src/crawlee/http/http-client.ts';
    expect(sources.filter((source) => folders.test(source) && source !== small)).toEqual([]);
    expect(sources.length).toBeLessThanOrEqual(18);
    for (const peer of [
      'impit',
      'header-generator',
      'fingerprint-generator',
      'fingerprint-injector',
      'playwright-core',
    ])
      expect(packages).not.toContain(peer);
    // The look itself works: the other entry has them.
    expect(loadedBy('crawlee/entry.js').sources.filter((source) => folders.test(source)).length).toBeGreaterThan(20);
  });
});
