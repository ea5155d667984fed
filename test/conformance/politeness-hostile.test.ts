// Files built to make their readers slow: four times the input may take a little over four times the time, never
// sixteen. The ratio is of CPU time, best of several runs, so that a busy machine does not decide the outcome.
import { describe, expect, it } from 'vitest';
import { MAX_ROBOTS_BYTES, RobotsTxt } from '../../src/politeness/robots/robots.js';
import { createSitemapReader } from '../../src/politeness/sitemaps/reader.js';

/** Linear is 4, quadratic 16. */
const MAX_GROWTH = 10;
/** Below this the clock decides, not the reader. */
const NOISE_MS = 15;

function cpuMs(run: () => void): number {
  let best = Infinity;
  for (let round = 0; round < 3; round++) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

function expectLinear(work: (bytes: number) => () => void, bytes: number): void {
  const quarter = cpuMs(work(bytes / 4));
  const whole = cpuMs(work(bytes));
  expect(whole).toBeLessThan(MAX_GROWTH * quarter + NOISE_MS);
}

describe('robots.txt takes time linear in its size', () => {
  const agents = (size: number): string => 'User-agent: x\nUser-agent: *\n'.repeat(size / 60);
  const distinct = (size: number): string[] => Array.from({ length: size / 20 }, (_, i) => `Disallow: /*a${i}`);

  it.each<[string, (size: number) => string]>([
    ['stars', (size) => `User-agent: *\nDisallow: /${'*a'.repeat(size / 2)}*b`],
    ['only stars', (size) => `User-agent: *\nDisallow: /${'*'.repeat(size)}b`],
    ['many agents and rules', (size) => `${agents(size)}${'Allow: /\n'.repeat(size / 20)}`],
    ['many groups', (size) => 'User-agent: *\nDisallow: /*a*b\n'.repeat(size / 33)],
    ['different rules', (size) => `User-agent: *\n${distinct(size).join('\n')}`],
    ['spaces', (size) => `User-agent${' '.repeat(size)}x`],
    ['percent signs', (size) => `User-agent: *\nDisallow: /${'%'.repeat(size)}`],
    ['sitemaps', (size) => 'Sitemap: a\n'.repeat(size / 11)],
  ])('with %s', (_, make) => {
    const url = `https://example.com/${'a'.repeat(490)}`;
    const work = (bytes: number) => {
      const text = make(bytes);
      return () => {
        const robots = RobotsTxt.parse(text);
        robots.isAllowed(url, 'x');
        robots.packFor('x', 16_384);
      };
    };
    expectLinear(work, MAX_ROBOTS_BYTES);
  });
});

describe('a sitemap takes time linear in its size', () => {
  it.each<[string, string]>([
    ['entries', '<url><loc>https://example.com/1</loc></url>'],
    ['open comments', '<!--'],
    ['open tags of many kinds', '<url><loc'],
    ['unmatched ends', '</url>'],
    ['references', '&#&amp;&x'],
    ['quotes', '<url a="'],
    ['sections', '<![CDATA['],
    ['declarations', '<!DOCTYPE ['],
    ['letters in a URL', 'x'],
  ])('with %s', (_, unit) => {
    const work = (bytes: number) => {
      const text = `<urlset><url><loc>https://x/${unit.repeat(bytes / unit.length)}`;
      return () => {
        const reader = createSitemapReader('https://example.com/');
        for (let at = 0; at < text.length; at += 16_384) reader.read(text.slice(at, at + 16_384));
        reader.read(null);
      };
    };
    expectLinear(work, 800_000);
  });
});
