import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDomainRules, toDomain } from './domain-rules.js';
import { hostPartOf } from './url-host.js';

describe('domain rules', () => {
  it('exclude a domain with its subdomains, and nothing that only ends alike', () => {
    const { refusal } = createDomainRules({ exclude: ['example.com', '*.Bücher.example', 'https://x.example/'] });
    const refused = ['example.com', 'a.b.example.com:8080', 'user@example.com', 'xn--bcher-kva.example', 'x.example'];
    for (const host of refused) expect([host, refusal(`https://${host}/a`)]).toEqual([host, 'DOMAIN_EXCLUDED']);
    for (const host of ['notexample.com', 'example.com.evil.org', 'com', 'y.example']) {
      expect([host, refusal(`https://${host}/example.com`)]).toEqual([host, undefined]);
    }
  });

  it('allow only what is listed; what is excluded as well is excluded', () => {
    const { refusal } = createDomainRules({ allow: ['example.com'], exclude: ['private.example.com'] });
    const hosts = ['example.com', 'www.example.com', 'private.example.com', 'example.org'];
    expect(hosts.map((host) => refusal(`https://${host}/`))).toEqual([
      ...[undefined, undefined],
      ...['DOMAIN_EXCLUDED', 'DOMAIN_NOT_ALLOWED'],
    ]);
  });

  it('give a domain its settings, the narrower over the wider', () => {
    const { overrideFor } = createDomainRules({
      overrides: { 'example.com': { delaySecs: 5, maxPages: 100 }, 'fast.example.com': { delaySecs: 0.5 } },
    });
    expect(overrideFor('https://www.example.com/')).toEqual({
      delaySecs: 5,
      maxPages: 100,
      budgetDomain: 'example.com',
    });
    expect(overrideFor('https://fast.example.com/')).toEqual({
      delaySecs: 0.5,
      maxPages: 100,
      budgetDomain: 'example.com',
    });
    expect(overrideFor('https://example.org/')).toEqual({});
    expect(overrideFor('https://a.example.com/')).toBe(overrideFor('https://b.example.com/'));
  });

  it('name every setting that is wrong', () => {
    const overrides = { 'a.example': { delaySecs: -1, ignoreRobot: true }, 'b.example': { maxPages: 'all' } } as never;
    expect(() => createDomainRules({ overrides })).toThrow(
      /a\.example.*delaySecs.*ignoreRobots.*b\.example.*maxPages/s,
    );
    expect(() => createDomainRules({ exclude: ['two words'] })).toThrow(/exclude\[0\].*two words/s);
  });

  it.each(['', 'a b', 'example.com/path', '*', 'a.*.com', 'user@example.com', 'http://'])(
    'take %j for no domain',
    (text) => {
      expect(toDomain(text)).toBeUndefined();
    },
  );

  it('cut the host out of a URL as the URL parser would', () => {
    const host = fc.constantFrom('a.example', 'Bücher.example', '127.1', '[::1]', '[2001:DB8::0:1]', 'x', 'a.example.');
    const user = fc.constantFrom('', 'user@', 'user:pass@', 'a%40b:@');
    const port = fc.constantFrom('', ':80', ':8080');
    const rest = fc.constantFrom('', '/', '?a@b', '#a:b/c', '/a?b#c', '/x@y:1/');
    fc.assert(
      fc.property(host, user, port, rest, (...[host, user, port, rest]) => {
        const { href, hostname } = new URL(`http://${user}${host}${port}${rest}`);
        expect(hostPartOf(href)).toBe(hostname);
      }),
    );
  });
});
