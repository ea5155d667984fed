import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsReached } from '../../limits.js';
import { MAX_ROBOTS_BYTES, productToken, RobotsTxt } from './robots.js';

/** Any code units, halves of pairs included; built from bytes, which fast-check generates quickly. */
const anyText = (maxLength: number) =>
  fc
    .tuple(fc.uint8Array({ maxLength }), fc.constantFrom('latin1' as const, 'utf16le' as const))
    .map(([bytes, encoding]) => Buffer.from(bytes).toString(encoding));

const SITE = 'https://example.com';
const allowed = (file: string | Uint8Array, path: string, agent = 'orcrawl'): boolean =>
  RobotsTxt.parse(file).isAllowed(SITE + path, agent);

describe('groups', () => {
  it('merges the groups of one agent wherever they stand', () => {
    const file = 'User-agent: a\nDisallow: /1\n\nUser-agent: b\nDisallow: /2\n\nUser-agent: A\nDisallow: /3';
    expect(['/1', '/2', '/3'].map((path) => allowed(file, path, 'a'))).toEqual([false, true, false]);
  });

  it('prefers the own group over everybody’s, which then does not count', () => {
    const file = 'User-agent: *\nDisallow: /\nUser-agent: orcrawl\nDisallow: /x';
    expect(allowed(file, '/a')).toBe(true);
    expect(allowed(file, '/x')).toBe(false);
    expect(allowed(file, '/a', 'other')).toBe(false);
  });

  it('takes the longest name that ours extends, in whole words', () => {
    const file =
      'User-agent: orcrawl\nDisallow: /a\nUser-agent: orcrawl-news\nDisallow: /b\nUser-agent: *\nDisallow: /c';
    const forbidden = (agent: string) => ['/a', '/b', '/c'].filter((path) => !allowed(file, path, agent));
    expect(forbidden('orcrawl-news')).toEqual(['/b']);
    expect(forbidden('orcrawl-news-fast')).toEqual(['/b']);
    expect(forbidden('orcrawl-images')).toEqual(['/a']);
    expect(forbidden('orcrawler')).toEqual(['/c']);
  });

  it('lets neither sitemap nor crawl-delay nor unknown lines end the list of agents', () => {
    const file = 'User-agent: a\nSitemap: https://x/s\nCrawl-delay: 3\nHost: x\nUser-agent: b\nDisallow: /';
    expect(allowed(file, '/', 'a')).toBe(false);
    expect(allowed(file, '/', 'b')).toBe(false);
  });

  it('ignores rules before the first agent and rules that name no path', () => {
    expect(allowed('Disallow: /\nUser-agent: *\nDisallow:\nDisallow: private', '/private')).toBe(true);
  });

  it('finds agents whose names hold digits and dots, and drops versions', () => {
    expect(allowed('User-agent: MJ12bot/1.4\nDisallow: /', '/', 'mj12BOT')).toBe(false);
  });

  it.each([
    ['orcrawl', 'orcrawl'],
    ['MyBot/1.0 (+https://my.example)', 'mybot'],
    ['Mozilla/5.0 (compatible; orcrawl/0.1; +https://x)', 'orcrawl'],
    ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Some-Bot/1.2)', 'some-bot'],
    ['*', '*'],
    ['', ''],
  ])('reads the product token of %j as %j', (header, token) => {
    expect(productToken(header)).toBe(token);
  });

  it('does not take DisallowAITraining or other new fields for rules', () => {
    expect(allowed('User-agent: *\nDisallowAITraining: /', '/')).toBe(true);
  });
});

describe('paths', () => {
  const one = (rule: string, path: string): boolean => !allowed(`User-agent: *\nDisallow: ${rule}`, path);

  it.each([
    ['/a*b*c', '/a-b-c-d', true],
    ['/a*b*c$', '/a-b-c-d', false],
    ['/a*b*c$', '/a-b-c-c', true],
    ['/*$', '/anything', true],
    ['*.php', '/x.php', true],
    ['/a$b', '/a$b', true],
    ['/ab*b$', '/ab', false],
    ['/path-%2A.html', '/path-*.html', true],
    ['/path-%2A.html', '/path-x.html', false],
    ['/foo-%24', '/foo-$', true],
    ['/foo-%24', '/foo-', false],
    ['/foo bar', '/foo%20bar', true],
    ['/%c3%a9', '/%C3%A9', true],
    ['/%C3%A9', '/%c3%a9', true],
    ['/é', '/%C3%A9', true],
    ['/a%2Fb', '/a/b', false],
    ['/x?a=*&b=', '/x?a=1&b=2', true],
    ['/x', '/y#/x', false],
  ])('%j against %j: %j', (rule, path, expected) => {
    expect(one(rule, path)).toBe(expected);
  });

  it('forbids either spelling of unreserved characters when one is forbidden', () => {
    for (const rule of ['/%62az', '/baz']) {
      for (const path of ['/baz', '/%62az', '/b%61%7a'])
        expect([rule, path, one(rule, path)]).toEqual([rule, path, true]);
    }
    expect(one('/ツ', '/ツ')).toBe(true);
  });

  it('allows a URL whose unreserved characters are spelt as codes when the plain spelling is allowed', () => {
    expect(allowed('User-agent: *\nDisallow: /\nAllow: /baz', '/b%61z')).toBe(true);
  });

  it('always allows robots.txt itself', () => {
    expect(allowed('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true);
    expect(allowed('User-agent: *\nDisallow: /', '/robots.txt?')).toBe(false);
  });

  it.each(['https://example.com', 'https://example.com?x', '//example.com/', '/', ''])(
    'finds the path of %j',
    (url) => {
      expect(RobotsTxt.parse('User-agent: *\nDisallow: /').isAllowed(url, 'x')).toBe(false);
    },
  );

  it('takes a path with a URL in its query for a path', () => {
    expect(RobotsTxt.parse('User-agent: *\nDisallow: /a').isAllowed('/a?to=http://b/c', 'x')).toBe(false);
  });
});

describe('other lines', () => {
  it('gives the largest crawl-delay of the groups that concern the agent', () => {
    const file =
      'User-agent: *\nCrawl-delay: 9\nDisallow: /z\n\nUser-agent: a\ncrawl-delay: 1.5 # s\nCrawl-Delay: 2\nDisallow:\n';
    const robots = RobotsTxt.parse(file);
    expect([robots.crawlDelay('a'), robots.crawlDelay('b')]).toEqual([2, 9]);
    expect(RobotsTxt.parse('User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1').crawlDelay('a')).toBeUndefined();
  });

  it('lists sitemaps of the whole file, also between and before groups', () => {
    const file =
      'Sitemap: https://x/1.xml\nUser-agent: *\nSITEMAP:https://x/ü.xml#f\nDisallow: /\nsite-map: https://x/3';
    expect(RobotsTxt.parse(file).sitemaps).toEqual(['https://x/1.xml', 'https://x/ü.xml', 'https://x/3']);
  });
});

describe('bytes', () => {
  const file = 'User-agent: *\r\nDisallow: /é\r\n';
  const wide = Buffer.from(`\ufeff${file}`, 'utf16le');

  it.each([
    ['UTF-8 with a mark', Buffer.from(`\ufeff${file}`)],
    ['UTF-16 little-endian with a mark', wide],
    ['UTF-16 big-endian with a mark', Buffer.from(wide).swap16()],
    ['UTF-16 little-endian', wide.subarray(2)],
    ['UTF-16 big-endian', Buffer.from(wide.subarray(2)).swap16()],
  ])('reads %s', (_, bytes) => {
    expect(allowed(bytes, '/%C3%A9')).toBe(false);
    expect(allowed(bytes, '/e')).toBe(true);
  });

  it('compares Latin-1 bytes with their own percent codes', () => {
    expect(allowed(Buffer.from(file, 'latin1'), '/%E9')).toBe(false);
  });

  it('reads 500 KiB and not a line more, and no half line', () => {
    const head = 'User-agent: *\nDisallow: /first\n';
    const last = 'Disallow: /last';
    const padding = '#'.repeat(MAX_ROBOTS_BYTES - head.length - last.length - 1);
    const fits = `${head}${padding}\n${last}`;
    expect(fits.length).toBe(MAX_ROBOTS_BYTES);
    expect(allowed(fits, '/last')).toBe(false);
    expect(allowed(`${fits}\nDisallow: /later`, '/last')).toBe(false);
    expect(allowed(`${fits}\nDisallow: /later`, '/later')).toBe(true);
    expect(allowed(`${fits}-longer`, '/last-longer')).toBe(true);
    expect(allowed(`${fits}-longer`, '/first')).toBe(false);
  });
});

describe('packs', () => {
  const word = fc.constantFrom('a', 'b', '*', '$', '%62', '%2A', 'é', '/', ' ', 'index.html');
  const path = fc.array(word, { maxLength: 6 }).map((words) => `/${words.join('')}`);
  const line = fc.oneof(
    fc.constantFrom('User-agent: me', 'User-agent: *', 'User-agent: you', 'Crawl-delay: 2', 'Sitemap: https://x/s'),
    fc.tuple(fc.constantFrom('Allow', 'Disallow'), path).map(([key, value]) => `${key}: ${value}`),
  );
  const file = fc.array(line, { maxLength: 20 }).map((lines) => ['User-agent: me', ...lines].join('\n'));
  const mode = fc.constantFrom('rfc' as const, 'google' as const);

  it('decide as the file does when all fits', () => {
    fc.assert(
      fc.property(file, fc.array(path, { minLength: 1 }), mode, (text, paths, mode) => {
        const robots = RobotsTxt.parse(text, { mode });
        const pack = RobotsTxt.parse(robots.packFor('me', 16_384), { mode });
        for (const one of paths) expect(pack.isAllowed(one, 'me')).toBe(robots.isAllowed(one, 'me'));
        expect(pack.crawlDelay('me')).toBe(robots.crawlDelay('me'));
        expect(pack.sitemaps).toEqual(robots.sitemaps);
      }),
    );
  });

  it('keep within their bytes and never allow what the file forbids', () => {
    fc.assert(
      fc.property(
        file,
        fc.array(path, { minLength: 1 }),
        fc.integer({ min: 64, max: 160 }),
        (text, paths, maxBytes) => {
          const robots = RobotsTxt.parse(text);
          const pack = robots.packFor('me', maxBytes);
          expect(Buffer.byteLength(pack)).toBeLessThanOrEqual(maxBytes);
          for (const one of paths) {
            if (!robots.isAllowed(one, 'me')) expect(RobotsTxt.parse(pack).isAllowed(one, 'me')).toBe(false);
          }
        },
      ),
    );
  });

  it('shorten many long forbidding paths to what they begin with', () => {
    const lines = Array.from({ length: 2_000 }, (_, i) => `Disallow: /area/${'x'.repeat(40)}/${i}`);
    const robots = RobotsTxt.parse(`User-agent: *\n${lines.join('\n')}\nAllow: /area/x`);
    const pack = RobotsTxt.parse(robots.packFor('me', 1_000));
    expect(pack.isAllowed(`${SITE}/area/${'x'.repeat(40)}/17`, 'me')).toBe(false);
    expect(pack.isAllowed(`${SITE}/elsewhere`, 'me')).toBe(true);
  });
});

describe('hostile input', () => {
  it('gives an answer for any bytes and any text', () => {
    const modes = fc.constantFrom('rfc' as const, 'google' as const);
    const input = fc.oneof(fc.uint8Array({ maxLength: 200 }), anyText(200));
    fc.assert(
      fc.property(input, anyText(40), anyText(40), modes, (bytes, url, agent, mode) => {
        const robots = RobotsTxt.parse(bytes, { mode });
        expect(typeof robots.isAllowed(url, agent)).toBe('boolean');
        expect(Array.isArray(robots.sitemaps)).toBe(true);
        robots.crawlDelay(agent);
        RobotsTxt.parse(robots.packFor(agent, 64), { mode });
      }),
      { numRuns: 50 },
    );
  });
});

describe('the work for one URL', () => {
  it('is bounded: what costs more to decide is not allowed', () => {
    const reached = limitsReached('robotsSteps');
    const path = `/${'a'.repeat(60_000)}`;
    const almost = `Disallow: /*${'a'.repeat(7_000)}b${'a'.repeat(7_000)}\n`;
    expect(allowed(`User-agent: *\n${almost}`, path)).toBe(false);
    expect(limitsReached('robotsSteps')).toBe(reached + 1);
    const many = Array.from({ length: 1_200 }, (_, index) => `Disallow: /*x${index}\n`).join('');
    expect(allowed(`User-agent: *\n${many}`, path)).toBe(false);
    expect(allowed(`User-agent: *\n${many}`, `/${'a'.repeat(1_000)}`)).toBe(true);
  });
});
