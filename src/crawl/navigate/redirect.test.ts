import { describe, expect, it } from 'vitest';
import type { Capture } from '../../fetch/engine.js';
import { Request, type RequestOptions } from '../../request/request.js';
import { hopOf, redirectRefusal } from './redirect.js';

const redirect = (redirectTo: string, statusCode = 302) => ({ redirectTo, statusCode }) as Capture;

function hop(options: RequestOptions, to: string, statusCode?: number): Request {
  return hopOf(new Request(options), redirect(to, statusCode), 10, undefined);
}

/** As the queue hands it on. */
const stored = (request: Request) => Request.fromRecord(request.toRecord());

describe('a redirect that is a request of its own', () => {
  it('keeps the URL and key that were asked for, and goes to where it leads', () => {
    const asked = new Request({ url: 'http://a.test/x', userData: { n: 1 }, crawlDepth: 2 });
    const next = stored(hopOf(asked, redirect('http://b.test/y'), 10, 'session'));
    expect(next).toMatchObject({
      url: 'http://a.test/x',
      target: 'http://b.test/y',
      crawlDepth: 2,
      sessionId: 'session',
    });
    expect(next.uniqueKey).toBe(asked.uniqueKey);
    expect(next.userData).toEqual({ n: 1 });
    expect(next.redirectChain).toEqual(['http://a.test/x']);
  });

  it('is known to the queue as the page it leads to', () => {
    const page = new Request({ url: 'http://b.test/y' });
    expect(hop({ url: 'http://a.test/x' }, 'http://b.test/y').fingerprint).toEqual(page.fingerprint);
  });

  it('is its own to the queue when it has a key of its own, or comes back to a page of its chain', () => {
    const page = new Request({ url: 'http://b.test/y' });
    const keyed = stored(hop({ url: 'http://a.test/x', uniqueKey: 'mine' }, 'http://b.test/y'));
    expect(keyed.fingerprint).not.toEqual(page.fingerprint);
    expect(keyed.uniqueKey).toBe('mine');
    const self = hop({ url: 'http://a.test/x' }, 'http://a.test/x');
    expect(self.fingerprint).not.toEqual(new Request({ url: 'http://a.test/x' }).fingerprint);
  });

  it('ends: a loop after each URL was asked for twice, a chain at its limit', () => {
    let request = new Request({ url: 'http://a.test/1' });
    const follow = (to: string) => (request = stored(hopOf(request, redirect(to), 10, undefined)));
    for (const path of ['2', '1', '2']) follow(`http://a.test/${path}`);
    expect(() => follow('http://a.test/1')).toThrowError(/loop/);
    expect(() => hopOf(new Request({ url: 'http://a.test/' }), redirect('http://a.test/2'), 0, undefined)).toThrowError(
      expect.objectContaining({ code: 'REDIRECT_LIMIT' }),
    );
  });

  it('has the method, payload and headers that a browser would send', () => {
    const post = { url: 'http://a.test/', method: 'POST', payload: 'x', headers: { 'x-key': 'secret' } } as const;
    expect(hop(post, 'http://a.test/y', 303)).toMatchObject({ method: 'GET', payload: undefined });
    expect(hop(post, 'http://a.test/y', 307)).toMatchObject({ method: 'POST', payload: 'x', headers: post.headers });
    expect(hop(post, 'https://a.test/y', 307)).toMatchObject({ method: 'POST', payload: 'x', headers: {} });
    expect(hop(post, 'http://b.test/y', 303)).toMatchObject({ method: 'GET', payload: undefined, headers: {} });
    // What a browser would send to anybody: a crawl does not.
    expect(() => hop(post, 'http://b.test/y', 307)).toThrow(expect.objectContaining({ code: 'REDIRECT_INVALID' }));
  });

  it('leads nowhere but to http and https', () => {
    expect(() => hop({ url: 'http://a.test/' }, 'ftp://a.test/')).toThrowError(
      expect.objectContaining({ code: 'REDIRECT_INVALID' }),
    );
  });

  it('forgets what an attempt found when it is tried again, and not how it came', () => {
    const next = stored(hop({ url: 'http://a.test/x' }, 'http://b.test/y'));
    next.arrived('http://b.test/z', ['http://b.test/y']);
    expect(next.redirectChain).toEqual(['http://a.test/x', 'http://b.test/y']);
    next.left();
    expect(next.redirectChain).toEqual(['http://a.test/x']);
    expect(next.loadedUrl).toBeUndefined();
  });
});

it('a redirect is refused by the strategy of its link first, then by rules about its target', () => {
  const request = new Request({ url: 'http://a.test/', enqueueStrategy: 'same-hostname' });
  const refuse = () => 'DOMAIN_EXCLUDED';
  expect(redirectRefusal(request, 'http://b.test/', refuse)).toBe('redirect');
  expect(redirectRefusal(request, 'http://a.test/2', refuse)).toBe('DOMAIN_EXCLUDED');
  expect(redirectRefusal(request, 'http://a.test/2', undefined)).toBeUndefined();
});
