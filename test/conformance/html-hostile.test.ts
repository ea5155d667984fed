// Pages built to make a parser slow: four times the input may take a little over four times the time, never sixteen.
// The ratio is of CPU time, best of several runs, so that a busy machine does not decide the outcome.
import { describe, expect, it } from 'vitest';
import { scanPage } from '../../src/parse/scan/scan.js';

const url = 'https://example.com/dir/page';
/** Linear is 4, quadratic 16. */
const MAX_GROWTH = 10;
/** Below this the clock decides, not the scanner. */
const NOISE_MS = 15;

function scanCpuMs(body: Buffer): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const start = process.cpuUsage();
    JSON.stringify(scanPage(body, { url, images: true }));
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

const HOSTILE: Readonly<Record<string, (size: number) => string>> = {
  'nested tags': (n) => '<div>'.repeat(n / 5),
  'nested links in table cells': (n) => '<table><td><a href=x>y'.repeat(n / 22),
  'nested SVG elements and end tags that match none': (n) => `<svg>${'<g>'.repeat(n / 7)}${'</x>'.repeat(n / 7)}`,
  'end tags walled off by foreignObject': (n) =>
    `<svg><g><foreignObject><svg>${'<x>'.repeat(n / 7)}${'</g>'.repeat(n / 7)}`,
  'nested templates': (n) => '<template>'.repeat(n / 10),
  'nested objects and tables': (n) => '<object><table><td>'.repeat(n / 19) + '</table>'.repeat(n / 8),
  'one long attribute value': (n) => `<a href="${'x'.repeat(n)}">`,
  'one long attribute of references': (n) => `<a href="${'&amp;'.repeat(n / 5)}">`,
  'an unclosed attribute': (n) => `<a href="${'<a href='.repeat(n / 8)}`,
  'many attributes': (n) => `<a ${'a=b '.repeat(n / 4)} href=x>`,
  'unclosed comments': (n) => '<!--'.repeat(n / 4),
  'comments that almost end': (n) => `<!--${'--!'.repeat(n / 6)}${'->'.repeat(n / 4)}`,
  'less-than signs': (n) => '<'.repeat(n),
  'end tag starts': (n) => '</'.repeat(n / 2),
  ampersands: (n) => '&'.repeat(n),
  'almost references': (n) => '&CounterClockwiseContourIntegra'.repeat(n / 31),
  'long numeric references': (n) => `&#${'9'.repeat(n)};`,
  'bases and relative links': (n) =>
    `<base href="/${'b'.repeat(2000)}/">${'<base href=/x/><a href=y>z</a>'.repeat(n / 30)}`,
  'a base of the page’s size': (n) => `<base href="/${'b'.repeat(n / 2)}/">${'<a href=y>'.repeat(n / 20)}`,
  'script starts': (n) => '<script'.repeat(n / 7),
  'scripts that hide scripts': (n) => `<script>${'<!--<script></script>'.repeat(n / 21)}`,
  'script ends inside titles': (n) => `<title>${'</titl'.repeat(n / 6)}`,
  'unclosed CDATA in SVG': (n) => `<svg>${'<![CDATA['.repeat(n / 9)}`,
  'links that are no URLs': (n) => '<a href="http://[">'.repeat(n / 19),
  'metadata tags': (n) => '<meta property=og:a content=b>'.repeat(n / 30),
  'unclosed links': (n) => '<a href=x>t'.repeat(n / 11),
  'line breaks in preformatted text': (n) => `<pre>${'\n<b>'.repeat(n / 4)}`,
};

describe('time is linear in the size of the page', () => {
  for (const [name, build] of Object.entries(HOSTILE)) {
    it(`for ${name}`, () => {
      const small = Buffer.from(build(100_000));
      const large = Buffer.from(build(400_000));
      scanCpuMs(small);
      const growth = scanCpuMs(large) / Math.max(NOISE_MS, scanCpuMs(small));
      expect(growth).toBeLessThan(MAX_GROWTH);
    });
  }

  it('also for 100,000 nested tags with text and for an attribute of 10 MB', () => {
    const nested = scanPage(Buffer.from(`${'<div><b>'.repeat(100_000)}deep`), { url });
    expect(nested.text).toBe('deep');
    const value = 'x'.repeat(10_000_000);
    expect(scanPage(Buffer.from(`<a title="${value}" href=y>z</a>`), { url }).links).toHaveLength(1);
    expect(scanPage(Buffer.from(`<a href="${value}">z</a>`), { url }).links[0]?.url).toHaveLength(value.length + 24);
  });
});
