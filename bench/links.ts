// Measures what a crawl does with each link of a page: request, unique key, fingerprint, domain, record.
// Run: node --import jiti/register bench/links.ts   (the sources: the built package has no inner files)
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { scanPage } from '../src/parse/scan/scan.js';
import { fingerprintOf } from '../src/request/fingerprint.js';
import { Request } from '../src/request/request.js';
import { domainOf, normalizeUrl } from '../src/request/url.js';

const PAGES = new URL('../../shared/data/pages/', import.meta.url);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 15);

function readLinks(): string[] {
  if (!existsSync(PAGES)) {
    console.log('../shared/data/pages is not here: synthetic links');
    return Array.from(
      { length: 20_000 },
      (_, k) => `https://www.site${k % 50}.com/articles/${k}${k % 12 ? '' : '?b=1&a=2'}`,
    );
  }
  return readdirSync(PAGES)
    .filter((file) => file.endsWith('.html.gz'))
    .flatMap(
      (file) => scanPage(gunzipSync(readFileSync(new URL(file, PAGES))), { url: 'https://example.com/a/b' }).links,
    )
    .filter(({ url, element }) => element === 'a' && url.startsWith('http'))
    .map(({ url }) => url);
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

const urls = readLinks();
const keys = new Map(urls.map((url) => [url, normalizeUrl(url)]));
const options = { crawlDepth: 1, enqueueStrategy: 'same-hostname' as const };
const requests = new Map(urls.map((url) => [url, new Request({ url, ...options })]));
const steps: Readonly<Record<string, (url: string) => unknown>> = {
  'new Request': (url) => new Request({ url, ...options }),
  normalizeUrl: (url) => normalizeUrl(url),
  'fingerprintOf (and a Map lookup)': (url) => fingerprintOf(keys.get(url)!),
  domainOf: (url) => domainOf(url),
  'toRecord (and a Map lookup)': (url) => requests.get(url)!.toRecord(),
  'all of them': (url) => {
    const request = new Request({ url, ...options });
    return [request.fingerprint, domainOf(request.url), request.toRecord()];
  },
};
console.log(`${urls.length} links; Node ${process.version}; CPU time, best and median of ${ROUNDS} rounds`);
for (const [name, step] of Object.entries(steps)) {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = cpuMicros();
    for (const url of urls) step(url);
    times.push(((cpuMicros() - start) * 1000) / urls.length);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${name.padEnd(34)} ${times[0]!.toFixed(0).padStart(6)} ${times[ROUNDS >> 1]!.toFixed(0).padStart(6)} ns per link`,
  );
}
