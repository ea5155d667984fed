// What RFC 9111 requires of a client's own cache, case by case, over real sockets: the yardstick of `validate`.
// The list is ours, written from the RFC along the groups of the public HTTP cache tests (freshness, Age, directives,
// Expires, heuristics, statuses, Vary, validators, updates by 304, invalidation, stored headers).
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CacheMode, type CrawlResult, type RunConfig, WebCrawler } from '../../src/index.js';
import { fixtures } from '../integration/http-fixtures.js';

type Headers = Record<string, string | string[]>;
interface Reply {
  readonly status?: number;
  readonly headers?: Headers;
  /** Breaks the connection in place of an answer. */
  readonly closes?: boolean;
}
interface Seen {
  readonly method: string;
  readonly headers: Record<string, string | string[] | undefined>;
}
type Outcome = 'hit' | 'hit_validated' | 'miss';

const servers = fixtures();
const replies = new Map<string, readonly Reply[]>();
const seen = new Map<string, Seen[]>();
let origin = '';
let storageDir = '';
let crawler: WebCrawler;
let pages = 0;

beforeAll(async () => {
  const { url } = await servers.serve((request, response) => {
    const at = request.url!.split('?')[0]!;
    const asked = seen.get(at) ?? [];
    seen.set(at, [...asked, { method: request.method!, headers: request.headers }]);
    const script = replies.get(at)!;
    const { status = 200, headers = {}, closes } = script[Math.min(asked.length, script.length - 1)]!;
    if (closes) return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'text/html', ...headers });
    response.end(status === 304 || status === 204 ? '' : `<p>${asked.length + 1}</p>`);
  });
  origin = url;
  storageDir = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-test-'));
  crawler = await WebCrawler.open({ storageDir });
});
afterAll(async () => {
  await crawler.close();
  await servers.closeAll();
  await rm(storageDir, { recursive: true, force: true });
});

const validate = { cacheMode: CacheMode.ENABLED, validate: true, maxRetries: 0 } as const;

/** A page that answers by a script, its last line for ever. */
function page(...script: Reply[]) {
  const at = `/${++pages}`;
  replies.set(at, script);
  const get = (config: RunConfig = {}, query = ''): Promise<CrawlResult> =>
    crawler.run(`${origin}${at}${query}`, { ...validate, ...config });
  return { get, url: origin + at, asked: () => seen.get(at) ?? [] };
}

const inSecs = (secs: number) => new Date(Date.now() + secs * 1000).toUTCString();
const cc = (value: string, more: Headers = {}): Headers => ({ 'cache-control': value, ...more });
const ETAG = '"v1"';
const LONG_AGO = 'Wed, 21 Oct 2015 07:28:00 GMT';

/** A first answer, and whether it may be used for the same request again. */
const REUSE: readonly (readonly [group: string, name: string, reply: Reply, again: Outcome])[] = [
  ['freshness', 'max-age in the future', { headers: cc('max-age=3600') }, 'hit'],
  ['freshness', 'max-age of zero', { headers: cc('max-age=0') }, 'miss'],
  ['freshness', 'nothing said at all', {}, 'miss'],
  ['freshness', 'an extension beside max-age', { headers: cc('foobar, max-age=3600, x="y"') }, 'hit'],
  ['freshness', 'max-age and s-maxage, which is for others', { headers: cc('max-age=3600, s-maxage=1') }, 'hit'],
  ['freshness', 's-maxage alone', { headers: cc('s-maxage=3600') }, 'miss'],
  ['freshness', 'max-age over an Expires in the past', { headers: cc('max-age=3600', { expires: inSecs(-9) }) }, 'hit'],
  ['freshness', 'max-age=0 over an Expires to come', { headers: cc('max-age=0', { expires: inSecs(9999) }) }, 'miss'],
  ['freshness', 'immutable and fresh', { headers: cc('max-age=3600, immutable') }, 'hit'],

  ['directives', 'names in capitals', { headers: cc('MAX-AGE=3600') }, 'hit'],
  ['directives', 'a quoted number', { headers: cc('max-age="3600"') }, 'hit'],
  ['directives', 'a number in single quotes', { headers: cc("max-age='3600'") }, 'miss'],
  ['directives', 'a number with a sign', { headers: cc('max-age=-3600') }, 'miss'],
  ['directives', 'a number with letters before it', { headers: cc('max-age=a3600') }, 'miss'],
  ['directives', 'a number with letters after it', { headers: cc('max-age=3600a') }, 'miss'],
  ['directives', 'a number with a fraction', { headers: cc('max-age=3600.0') }, 'miss'],
  ['directives', 'a number after a space', { headers: cc('max-age= 3600') }, 'miss'],
  ['directives', 'a name before a space', { headers: cc('max-age =3600') }, 'miss'],
  ['directives', 'no number', { headers: cc('max-age') }, 'miss'],
  ['directives', 'leading zeros', { headers: cc('max-age=003600') }, 'hit'],
  ['directives', 'a number too large for 31 bits', { headers: cc('max-age=99999999999') }, 'hit'],
  ['directives', 'two lifetimes, the shorter first', { headers: cc('max-age=0, max-age=3600') }, 'miss'],
  ['directives', 'two lifetimes, the shorter last', { headers: cc('max-age=3600, max-age=0') }, 'miss'],
  ['directives', 'two header lines', { headers: { 'cache-control': ['max-age=3600', 'no-store'] } }, 'miss'],
  ['directives', 'no-store within quotes', { headers: cc('max-age=3600, x="a, no-store"') }, 'hit'],
  ['directives', 'max-age within quotes', { headers: cc('x="a, max-age=3600", max-age=0') }, 'miss'],
  ['directives', 'empty list members', { headers: cc(', ,max-age=3600,,') }, 'hit'],
  ['directives', 'no-store', { headers: cc('no-store') }, 'miss'],
  ['directives', 'No-StoRe beside a lifetime', { headers: cc('No-StoRe, max-age=3600') }, 'miss'],
  ['directives', 'no-cache beside a lifetime', { headers: cc('no-cache, max-age=3600') }, 'miss'],
  ['directives', 'no-cache for one field', { headers: cc('no-cache="x-a", max-age=3600') }, 'miss'],
  ['directives', 'private: the cache is its user’s', { headers: cc('private, max-age=3600') }, 'hit'],
  ['directives', 'must-revalidate while fresh', { headers: cc('must-revalidate, max-age=3600') }, 'hit'],
  ['directives', 'proxy-revalidate, which is for others', { headers: cc('proxy-revalidate, max-age=3600') }, 'hit'],

  ['age', 'below the lifetime', { headers: cc('max-age=3600', { age: '1800' }) }, 'hit'],
  ['age', 'above the lifetime', { headers: cc('max-age=3600', { age: '7200' }) }, 'miss'],
  ['age', 'equal to the lifetime', { headers: cc('max-age=3600', { age: '3600' }) }, 'miss'],
  ['age', 'of many digits', { headers: cc('max-age=3600', { age: '9'.repeat(25) }) }, 'miss'],
  ['age', 'that is no number', { headers: cc('max-age=3600', { age: 'abc' }) }, 'hit'],
  ['age', 'below zero', { headers: cc('max-age=3600', { age: '-7200' }) }, 'hit'],
  ['age', 'a list: its first member counts', { headers: cc('max-age=3600', { age: '7200, 0' }) }, 'miss'],
  ['age', 'with an Expires it uses up', { headers: { expires: inSecs(3600), age: '7200' } }, 'miss'],
  ['age', 'by a Date longer ago than the lifetime', { headers: cc('max-age=3600', { date: inSecs(-7200) }) }, 'miss'],
  ['age', 'a Date to come is not believed', { headers: cc('max-age=3600', { date: inSecs(7200) }) }, 'hit'],

  ['Expires', 'to come', { headers: { expires: inSecs(3600) } }, 'hit'],
  ['Expires', 'past', { headers: { expires: inSecs(-3600) } }, 'miss'],
  ['Expires', 'now', { headers: { expires: inSecs(0), date: inSecs(0) } }, 'miss'],
  ['Expires', '0', { headers: { expires: '0' } }, 'miss'],
  ['Expires', 'no date', { headers: { expires: 'soon' } }, 'miss'],
  ['Expires', 'a year alone', { headers: { expires: '2090' } }, 'miss'],
  ['Expires', 'an ISO date', { headers: { expires: '2090-01-01T00:00:00Z' } }, 'miss'],
  ['Expires', 'in another zone', { headers: { expires: 'Thu, 18 Aug 2050 02:01:18 AEST' } }, 'miss'],
  ['Expires', 'as UTC', { headers: { expires: 'Thu, 18 Aug 2050 02:01:18 UTC' } }, 'miss'],
  ['Expires', 'with dashes', { headers: { expires: 'Thu, 18-Aug-2050 02:01:18 GMT' } }, 'miss'],
  ['Expires', 'with a time of one digit', { headers: { expires: 'Thu, 18 Aug 2050 2:01:18 GMT' } }, 'miss'],
  ['Expires', 'of RFC 850', { headers: { expires: 'Friday, 18-Aug-45 02:01:18 GMT' } }, 'hit'],
  ['Expires', 'of asctime', { headers: { expires: 'Thu Aug 18 02:01:18 2050' } }, 'hit'],
  ['Expires', 'in small letters', { headers: { expires: 'thu, 18 aug 2050 02:01:18 gmt' } }, 'hit'],

  ['heuristics', 'Last-Modified long ago', { headers: { 'last-modified': LONG_AGO } }, 'hit'],
  ['heuristics', 'an ETag alone is no lifetime', { headers: { etag: ETAG } }, 'miss'],
  ...[201, 202, 299].map(
    (status) =>
      ['heuristics', `none for ${status}`, { status, headers: { 'last-modified': LONG_AGO } }, 'miss'] as const,
  ),
  ...[403, 502, 503, 504, 599].map(
    (status) =>
      ['heuristics', `none for ${status}`, { status, headers: { 'last-modified': LONG_AGO } }, 'miss'] as const,
  ),

  ...[200, 203, 404, 410].map(
    (status) => ['statuses', `${status} while fresh`, { status, headers: cc('max-age=3600') }, 'hit'] as const,
  ),
  ...[200, 203, 204, 404, 410, 500, 503, 599].map(
    (status) =>
      ['statuses', `${status} when stale`, { status, headers: cc('max-age=1', { age: '9' }) }, 'miss'] as const,
  ),
  [
    'statuses',
    'a part of a page',
    { status: 206, headers: cc('max-age=99', { 'content-range': 'bytes 0-7/99' }) },
    'miss',
  ],
  ['statuses', 'one that nobody knows', { status: 599, headers: cc('max-age=3600') }, 'miss'],

  ['Vary', 'by everything', { headers: cc('max-age=3600', { vary: '*' }) }, 'miss'],
  ['Vary', 'by everything, among others', { headers: cc('max-age=3600', { vary: 'x-a, *' }) }, 'miss'],
  ['Vary', 'by everything, on a second line', { headers: cc('max-age=3600', { vary: ['x-a', '*'] }) }, 'miss'],
  ['Vary', 'by a header that no request has', { headers: cc('max-age=3600', { vary: 'x-none' }) }, 'hit'],
  ['Vary', 'by an empty list', { headers: cc('max-age=3600', { vary: '' }) }, 'hit'],

  ['others', 'Set-Cookie does not forbid', { headers: cc('max-age=3600', { 'set-cookie': 'a=b' }) }, 'hit'],
  ['others', 'Pragma is for requests', { headers: cc('max-age=3600', { pragma: 'no-cache' }) }, 'hit'],
];

describe('a stored answer is used again or not', () => {
  it.each(REUSE)('%s: %s', async (_group, _name, reply, again) => {
    const { get, asked } = page(reply);
    expect((await get()).cacheStatus).toBe('miss');
    expect((await get()).cacheStatus).toBe(again);
    expect(asked()).toHaveLength(again === 'hit' ? 1 : 2);
  });
});

/** Request headers of the first and of the second request, with a Vary. */
const VARIANTS: readonly [name: string, vary: string | string[], first: Headers, second: Headers, again: Outcome][] = [
  ['the same value', 'x-a', { 'x-a': '1' }, { 'x-a': '1' }, 'hit'],
  ['another value', 'x-a', { 'x-a': '1' }, { 'x-a': '2' }, 'miss'],
  ['a value that only one has', 'x-a', { 'x-a': '1' }, {}, 'miss'],
  ['a value that only the second has', 'x-a', {}, { 'x-a': '1' }, 'miss'],
  ['one of two that differs', 'x-a, x-b', { 'x-a': '1', 'x-b': '1' }, { 'x-a': '1', 'x-b': '2' }, 'miss'],
  ['two that are the same', 'x-a, x-b', { 'x-a': '1', 'x-b': '2' }, { 'x-a': '1', 'x-b': '2' }, 'hit'],
  ['two lines of Vary', ['x-a', 'x-b'], { 'x-a': '1', 'x-b': '1' }, { 'x-a': '1', 'x-b': '2' }, 'miss'],
  ['names in capitals', 'X-A', { 'x-a': '1' }, { 'X-a': '1' }, 'hit'],
  ['a header that Vary does not name', 'x-a', { 'x-a': '1', 'x-c': '1' }, { 'x-a': '1', 'x-c': '2' }, 'hit'],
];

describe('Vary chooses', () => {
  it.each(VARIANTS)('%s', async (_name, vary, first, second, again) => {
    const { get } = page({ headers: cc('max-age=3600', { vary }) });
    await get({ headers: first as Record<string, string> });
    expect((await get({ headers: second as Record<string, string> })).cacheStatus).toBe(again);
  });
});

/** What the second request says of its own. */
const ASKED: readonly [name: string, stored: Headers, directive: Record<string, string>, again: Outcome][] = [
  ['no-cache', cc('max-age=3600'), { 'cache-control': 'no-cache' }, 'miss'],
  ['max-age=0', cc('max-age=3600'), { 'cache-control': 'max-age=0' }, 'miss'],
  ['a max-age above the age', cc('max-age=3600', { age: '10' }), { 'cache-control': 'max-age=600' }, 'hit'],
  ['a max-age below the age', cc('max-age=3600', { age: '1000' }), { 'cache-control': 'max-age=600' }, 'miss'],
  ['a min-fresh that is met', cc('max-age=3600'), { 'cache-control': 'min-fresh=600' }, 'hit'],
  ['a min-fresh that is not met', cc('max-age=1000', { age: '900' }), { 'cache-control': 'min-fresh=600' }, 'miss'],
  ['max-stale, which is not granted', cc('max-age=1', { age: '9' }), { 'cache-control': 'max-stale' }, 'miss'],
  ['Pragma: no-cache', cc('max-age=3600'), { pragma: 'no-cache' }, 'miss'],
];

describe('a request asks for', () => {
  it.each(ASKED)('%s', async (_name, stored, headers, again) => {
    const { get } = page({ headers: stored });
    await get();
    expect((await get({ headers })).cacheStatus).toBe(again);
  });

  it('no-store, and its answer is not stored', async () => {
    const { get } = page({ headers: cc('max-age=3600') });
    await get({ headers: { 'cache-control': 'no-store' } });
    expect((await get()).cacheStatus).toBe('miss');
  });
});

describe('a stale answer is asked about', () => {
  const validators: readonly [name: string, headers: Headers, conditions: Record<string, string>][] = [
    ['its ETag', { etag: ETAG }, { 'if-none-match': ETAG }],
    ['its weak ETag', { etag: 'W/"v1"' }, { 'if-none-match': 'W/"v1"' }],
    ['its ETag without quotes, as it stands', { etag: 'v1' }, { 'if-none-match': 'v1' }],
    ['its Last-Modified', { 'last-modified': LONG_AGO }, { 'if-modified-since': LONG_AGO }],
    ['both', { etag: ETAG, 'last-modified': LONG_AGO }, { 'if-none-match': ETAG, 'if-modified-since': LONG_AGO }],
  ];
  it.each(validators)('with %s', async (_name, headers, conditions) => {
    const { get, asked } = page({ headers: cc('no-cache', headers) }, { status: 304, headers });
    await get();
    expect(await get()).toMatchObject({ cacheStatus: 'hit_validated', statusCode: 200, text: '1' });
    expect(asked()[1]!.headers).toMatchObject(conditions);
  });

  it('and replaced when there is a new one', async () => {
    const { get } = page(
      { headers: cc('max-age=0', { etag: ETAG }) },
      { headers: cc('max-age=3600', { etag: '"v2"' }) },
    );
    await get();
    expect(await get()).toMatchObject({ cacheStatus: 'miss', text: '2' });
    expect(await get()).toMatchObject({ cacheStatus: 'hit', text: '2' });
  });

  it('without conditions when it has no validator', async () => {
    const { get, asked } = page({ headers: cc('max-age=0') });
    await get();
    await get();
    expect(asked()[1]!.headers).not.toHaveProperty('if-none-match');
    expect(asked()[1]!.headers).not.toHaveProperty('if-modified-since');
  });

  it('by its own variant only', async () => {
    const { get, asked } = page({ headers: cc('no-cache', { etag: ETAG, vary: 'x-a' }) });
    await get({ headers: { 'x-a': '1' } });
    await get({ headers: { 'x-a': '2' } });
    expect(asked()[1]!.headers).not.toHaveProperty('if-none-match');
  });

  it.each(['must-revalidate, max-age=0', 'no-cache', 'max-age=0'])(
    'and never used when nobody answers: %s',
    async (directives) => {
      const { get } = page({ headers: cc(directives, { etag: ETAG }) }, { closes: true });
      await get();
      expect(await get()).toMatchObject({ success: false, errorCode: 'CONNECT_RESET', cacheStatus: 'miss' });
    },
  );

  it('and the server’s error is what is given', async () => {
    const { get } = page({ headers: cc('max-age=0', { etag: ETAG }) }, { status: 503 });
    await get();
    expect(await get()).toMatchObject({ success: false, errorCode: 'HTTP_STATUS', statusCode: 503 });
  });
});

describe('a 304', () => {
  const stale = cc('max-age=0', { etag: ETAG, 'x-a': 'old', 'x-b': 'kept' });
  const notModified = (headers: Headers): Reply => ({ status: 304, headers: { etag: ETAG, ...headers } });

  it('updates the stored headers and leaves the others', async () => {
    const { get } = page({ headers: stale }, notModified(cc('max-age=3600', { 'x-a': 'new' })));
    await get();
    expect((await get()).headers).toMatchObject({ 'x-a': 'new', 'x-b': 'kept' });
    const later = await get();
    expect(later.cacheStatus).toBe('hit');
    expect(later.headers).toMatchObject({ 'x-a': 'new', 'x-b': 'kept' });
  });

  it('makes the page fresh again by what it says', async () => {
    const { get, asked } = page({ headers: stale }, notModified(cc('max-age=3600')));
    const statuses = [(await get()).cacheStatus, (await get()).cacheStatus, (await get()).cacheStatus];
    expect(statuses).toEqual(['miss', 'hit_validated', 'hit']);
    expect(asked()).toHaveLength(2);
  });

  it('says nothing about the length and the coding of the stored body', async () => {
    const { get } = page({ headers: stale }, notModified(cc('max-age=3600', { 'content-encoding': 'gzip' })));
    await get();
    const { headers, text } = await get();
    expect(headers).not.toHaveProperty('content-encoding');
    expect(text).toBe('1');
  });

  it('that names no version is about the one that was asked about', async () => {
    const { get } = page({ headers: stale }, { status: 304, headers: cc('max-age=3600') });
    await get();
    expect(await get()).toMatchObject({ cacheStatus: 'hit_validated', text: '1' });
    expect(await get()).toMatchObject({ cacheStatus: 'hit', text: '1' });
  });

  it('for another version is no answer: the page is fetched', async () => {
    const { get, asked } = page(
      { headers: stale },
      { status: 304, headers: { etag: '"other"' } },
      { headers: cc('max-age=3600', { etag: '"other"' }) },
    );
    await get();
    expect(await get()).toMatchObject({ cacheStatus: 'miss', text: '3' });
    expect(asked()).toHaveLength(3);
  });
});

describe('a page that is used again', () => {
  it('carries its Age', async () => {
    const { get } = page({ headers: cc('max-age=3600', { age: '120' }) });
    await get();
    const age = Number((await get()).headers.age);
    expect(age).toBeGreaterThanOrEqual(120);
    expect(age).toBeLessThan(180);
  });

  it('keeps its Date', async () => {
    const date = inSecs(-60);
    const { get } = page({ headers: cc('max-age=3600', { date }) });
    await get();
    expect((await get()).headers.date).toBe(date);
  });

  it('has no headers of the connection it came over', async () => {
    const { get } = page({
      headers: cc('max-age=3600', {
        connection: 'x-hop',
        'x-hop': '1',
        'proxy-authenticate': 'Basic',
        te: 'x',
        'x-a': '1',
      }),
    });
    await get();
    const { headers } = await get();
    expect(headers['x-a']).toBe('1');
    for (const name of ['connection', 'x-hop', 'proxy-authenticate', 'te', 'keep-alive', 'transfer-encoding']) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it('is another one under another query', async () => {
    const { get } = page({ headers: cc('max-age=3600') });
    await get({}, '?a=1');
    expect((await get({}, '?a=2')).cacheStatus).toBe('miss');
    expect((await get({}, '?a=1')).cacheStatus).toBe('hit');
  });

  it('is another one for another method', async () => {
    const { get } = page({ headers: cc('max-age=3600') });
    await get({ method: 'HEAD' });
    expect(await get()).toMatchObject({ cacheStatus: 'miss', text: '2' });
  });
});

describe('a request that may change the page', () => {
  const fresh: Reply = { headers: cc('max-age=3600') };

  it.each(['POST', 'PUT', 'DELETE', 'PATCH'] as const)(
    '%s is never answered from the cache, and forgets it',
    async (method) => {
      const { get, asked } = page(fresh);
      await get();
      expect((await get({ method })).cacheStatus).toBe('miss');
      expect((await get()).cacheStatus).toBe('miss');
      expect(asked().map((one) => one.method)).toEqual(['GET', method, 'GET']);
    },
  );

  it('and failed leaves it', async () => {
    const { get } = page(fresh, { status: 500 }, fresh);
    await get();
    await get({ method: 'POST', body: 'x' });
    expect((await get()).cacheStatus).toBe('hit');
  });

  it('is not stored itself', async () => {
    const { get } = page(fresh);
    await get({ method: 'POST', body: 'x' });
    expect((await get({ method: 'POST', body: 'x' })).cacheStatus).toBe('miss');
    expect((await get()).cacheStatus).toBe('miss');
  });

  it('forgets what its answer names on the same host', async () => {
    const other = page(fresh);
    await other.get();
    const { get } = page({ headers: { 'content-location': other.url } });
    await get({ method: 'POST', body: 'x' });
    expect((await other.get()).cacheStatus).toBe('miss');
  });
});
