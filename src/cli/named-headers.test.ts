import { describe, expect, it } from 'vitest';
import { Request } from '../request/request.js';
import { createNamedHeaders } from './named-headers.js';

const secret = { authorization: 'Bearer s3cret' };

function sentWith(named: ReturnType<typeof createNamedHeaders>, request: Request): Record<string, string> {
  const headers = {};
  void named.hook({ request } as never, { headers } as never);
  return headers;
}

function sentTo(named: ReturnType<typeof createNamedHeaders>, url: string, options = {}): Record<string, string> {
  return sentWith(named, new Request({ url, ...options }));
}

describe('the headers of --header', () => {
  it('go to every page of a host that was named, and to no other port or name', () => {
    const named = createNamedHeaders(secret);
    named.name('https://example.com/start');
    expect(sentTo(named, 'https://example.com/deep', { crawlDepth: 7 })).toEqual(secret);
    for (const url of ['https://example.com:8443/', 'https://www.example.com/', 'https://other.test/']) {
      expect(sentTo(named, url)).toEqual({});
    }
  });

  it('do not go in clear text to a host that was named with https, by a link or by a redirect', () => {
    const named = createNamedHeaders(secret);
    named.name('https://example.com/');
    expect(sentTo(named, 'http://example.com/page')).toEqual({});
    expect(sentTo(named, 'http://example.com:443/page')).toEqual({});
    const seed = new Request({ url: 'https://example.com/', seeded: true });
    expect(sentWith(named, seed.redirectedTo('http://example.com/', {}))).toEqual({});
  });

  it('do not go where a seed redirects to', () => {
    const named = createNamedHeaders(secret);
    named.name('https://example.com/');
    const seed = new Request({ url: 'https://example.com/', seeded: true });
    expect(sentWith(named, seed)).toEqual(secret);
    expect(sentWith(named, seed.redirectedTo('https://evil.test/steal', {}))).toEqual({});
  });

  it('go with the seeds of an earlier run and of a list too long to be kept', () => {
    const named = createNamedHeaders(secret, 1);
    for (const url of ['https://one.test/', 'https://two.test/']) named.name(url);
    expect(sentTo(named, 'https://two.test/', { seeded: true })).toEqual(secret);
    expect(sentTo(named, 'https://two.test/further')).toEqual({});
  });
});
