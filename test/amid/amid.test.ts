// Hostile pages and hosts among good ones, a sample for every run of the tests: many kinds in one crawl, two ways.
// The whole product is `npm run measure -- amid`.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCase } from './suite/suite.js';
import { allKinds, type AmidWeb, startWeb } from './suite/web.js';

let web: AmidWeb;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.close());

/** One of each sort; those that end by a time limit only would make the test wait. */
const SAMPLE = [
  ...['one-byte-writes', 'header-flood', 'headers-endless', 'cookie-flood', 'gzip-bomb', 'brotli-bomb', 'nested-bomb'],
  ...[
    'gzip-cut',
    'reset-at-once',
    'reset-in-head',
    'reset-in-body',
    'body-endless',
    'chunk-size-wrong',
    'length-wrong',
  ],
  ...['status-garbage', 'status-1xx-endless', 'not-http', 'redirect-loop', 'redirect-endless', 'robots-loop'],
  ...[
    'nested-span',
    'deep-json-ld',
    'huge-attribute',
    'surrogates',
    'nulls',
    'json-deep',
    'unserialisable',
    'too-large',
  ],
];

for (const way of ['batch', 'script'] as const) {
  it(`loses no good page among hostile ones: ${way}`, async () => {
    const kinds = (await allKinds()).filter(({ name }) => SAMPLE.includes(name));
    expect(kinds).toHaveLength(SAMPLE.length);
    const verdict = await runCase({ web, way, kinds, browserPath: undefined });
    expect(verdict).toMatchObject({ lost: [], mixedUp: [], endless: [], said: '' });
  });
}
