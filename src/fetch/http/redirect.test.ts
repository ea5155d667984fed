import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Hop } from './redirect.js';
import { createRedirectTrail, isRedirect, nextHop, redirectTarget } from './redirect.js';

const url = (text: string) => new URL(text);
const post: Hop = {
  url: url('https://a.example/form'),
  method: 'POST',
  payload: 'x=1',
  headers: { 'Content-Type': 'text/plain', Authorization: 'Bearer s', cookie: 'a=1', accept: '*/*' },
};

describe('isRedirect', () => {
  it('takes the five redirect statuses with a Location, and nothing else', () => {
    for (const status of [301, 302, 303, 307, 308]) {
      expect(isRedirect(status, '/x')).toBe(true);
      expect(isRedirect(status, undefined)).toBe(false);
    }
    for (const status of [200, 201, 300, 304, 305, 306, 404]) expect(isRedirect(status, '/x')).toBe(false);
  });
});

describe('redirectTarget', () => {
  it.each([
    ['https://a.example/b/c?d', '../e', 'https://a.example/e'],
    ['https://a.example/b', '//c.example/', 'https://c.example/'],
    ['https://a.example/b?x', '?y', 'https://a.example/b?y'],
    ['https://a.example/b', 'http://c.example', 'http://c.example/'],
    ['https://a.example/b', '', 'https://a.example/b'],
    ['https://a.example/b', ' \t/c ', 'https://a.example/c'],
    ['https://a.example/b#part', '/c', 'https://a.example/c#part'],
    ['https://a.example/b#part', '/c#other', 'https://a.example/c#other'],
    ['https://a.example/b#part', '/c#', 'https://a.example/c#'],
  ])('resolves %s + %o to %s', (from, location, expected) => {
    expect(redirectTarget(url(from), location).href).toBe(expected);
  });

  it('reads raw UTF-8 bytes in a Location as UTF-8 and other bytes as Latin-1', () => {
    const utf8 = Buffer.from('/käse', 'utf8').toString('latin1');
    expect(redirectTarget(url('http://a.example/'), utf8).href).toBe('http://a.example/k%C3%A4se');
    expect(redirectTarget(url('http://a.example/'), '/k\u00e4se').href).toBe('http://a.example/k%C3%A4se');
  });

  it.each(['http://', 'http://[::1', 'javascript:alert(1)', 'file:///etc/passwd', 'ftp://x/', 'data:text/html,x'])(
    'refuses %s by name',
    (location) => {
      expect(() => redirectTarget(url('http://a.example/'), location)).toThrow(
        expect.objectContaining({ code: 'REDIRECT_INVALID', message: expect.stringContaining('a.example') }),
      );
    },
  );

  it('answers any text with an http(s) URL or REDIRECT_INVALID', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (location) => {
        try {
          expect(redirectTarget(url('http://a.example/x'), location).protocol).toMatch(/^https?:$/);
        } catch (error) {
          expect(error).toMatchObject({ code: 'REDIRECT_INVALID' });
        }
      }),
    );
  });
});

describe('nextHop', () => {
  const here = url('https://a.example/next');
  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'DELETE', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [302, 'HEAD', 'HEAD'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ])('after %i a %s becomes %s', (status, method, expected) => {
    const hop = nextHop({ ...post, method }, status, here);
    expect(hop.method).toBe(expected);
    expect(hop.payload).toBe(expected === method ? 'x=1' : undefined);
    expect('Content-Type' in hop.headers).toBe(expected === method);
  });

  it.each(['http://a.example/', 'https://a.example:8443/', 'https://b.example/', 'https://sub.a.example/'])(
    'drops credentials on the way to %s',
    (target) => {
      const { headers } = nextHop({ ...post, payload: undefined }, 307, url(target));
      expect(headers).toEqual({ 'Content-Type': 'text/plain', accept: '*/*' });
    },
  );

  it('keeps credentials within the origin', () => {
    expect(nextHop(post, 307, here).headers).toEqual(post.headers);
  });

  it('takes no header of unknown meaning to another origin, whatever its name', () => {
    const harmless = { 'User-Agent': 'bot', 'accept-language': 'en', 'if-none-match': '"1"', 'sec-ch-ua': 'x' };
    const own = { 'x-api-key': 's', 'Private-Token': 's', 'proxy-authorization': 's', referer: 'https://a.example/?s' };
    const hop = { url: url('https://a.example/'), method: 'GET', headers: { ...harmless, ...own } };
    expect(nextHop(hop, 302, url('https://b.example/')).headers).toEqual(harmless);
    expect(nextHop(hop, 302, here).headers).toEqual(hop.headers);
  });
});

describe('createRedirectTrail', () => {
  it('records the URLs that redirected and stops after the limit', () => {
    const trail = createRedirectTrail(url('http://a.example/0'), 2);
    trail.step(url('http://a.example/0'), url('http://a.example/1'));
    trail.step(url('http://a.example/1'), url('http://a.example/2'));
    expect(trail.chain).toEqual(['http://a.example/0', 'http://a.example/1']);
    expect(() => trail.step(url('http://a.example/2'), url('http://a.example/3'))).toThrow(
      expect.objectContaining({ code: 'REDIRECT_LIMIT' }),
    );
  });

  it('lets a cookie exchange come back once and calls the second return a loop', () => {
    const [a, b] = [url('http://a.example/'), url('http://b.example/')];
    const trail = createRedirectTrail(a, 10);
    trail.step(a, b);
    trail.step(b, a);
    trail.step(a, b);
    expect(() => trail.step(b, a)).toThrow(expect.objectContaining({ code: 'REDIRECT_LIMIT' }));
    expect(() => trail.step(b, url('http://a.example/#x'))).toThrow(/loop/);
  });
});
