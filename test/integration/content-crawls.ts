// Crawls of the same three pages on four days, with what is unchanged stored as revisits.
import { ContentStore } from '../../src/store/content/content.js';
import type { ContentPage } from '../../src/store/content/page.js';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
/** The time of a crawl. */
export const at = (day: number) => START + day * DAY;

export function pageOf(n: number, day: number, version: number): ContentPage {
  const url = `https://site.example/${n}`;
  const body = Buffer.from(
    `<!doctype html><title>${n}</title><p>Page ${n}, version ${version}, ${'orcas '.repeat(50)}`,
  );
  return {
    url,
    uniqueKey: url,
    statusCode: 200,
    fetchedAtMs: at(day),
    contentType: 'text/html',
    depth: 0,
    text: `Page ${n}, version ${version}`,
    response: { statusCode: 200, headers: { 'content-type': 'text/html' }, body, bodyIs: 'decoded' },
  };
}

/** A crawl a day: page 1 never changes, page 2 every day, page 3 is confirmed by 304 and changes on the third day. */
export async function crawls(dataDir: string): Promise<void> {
  const originals = new Map<number, { digest: string; fetchedAtMs: number }>();
  for (const day of [0, 1, 2, 3]) {
    const store = await ContentStore.open({ dataDirs: [dataDir], storeRawHtml: true });
    const versions = [1, 1, 2 + day, day < 2 ? 1 : 2];
    const packed = [];
    for (const n of [1, 2, 3]) {
      const original = originals.get(n);
      const isConfirmed = n === 3 && (day === 1 || day === 3);
      const page = pageOf(n, day, versions[n]!);
      const one = isConfirmed
        ? store.packConfirmed({ ...page, response: { headers: { etag: '"1"' } }, original: original! })!
        : await store.pack({ ...page, original });
      originals.set(n, one.original!);
      packed.push(one);
    }
    await store.append(packed);
    await store.close();
  }
}
