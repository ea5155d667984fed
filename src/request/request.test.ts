// Requests: what they accept, the key they are deduplicated by, and that nothing is lost on the way to disk.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CrawlError, RequestValidationError } from '../errors.js';
import { fingerprintFromId } from './fingerprint.js';
import { type Dictionary, type Priority, Request, type RequestOptions, RequestState, toRequest } from './request.js';

describe('the unique key of a request', () => {
  // Every key of this table is what Crawlee 3.18's Request computes for the same options.
  it.each<[string, Partial<RequestOptions>, string]>([
    ['https://example.com', {}, 'https://example.com'],
    ['https://example.com/', {}, 'https://example.com'],
    ['HTTPS://EXAMPLE.com/Path/', {}, 'https://example.com/Path'],
    ['https://example.com/a//', {}, 'https://example.com/a/'],
    ['https://example.com//', {}, 'https://example.com/'],
    ['https://example.com/a?b=1#top', {}, 'https://example.com/a?b=1'],
    ['https://example.com/a?b=1#top', { keepUrlFragment: true }, 'https://example.com/a?b=1#top'],
    ['https://example.com/#', { keepUrlFragment: true }, 'https://example.com'],
    ['https://example.com/a/#frag', { keepUrlFragment: true }, 'https://example.com/a#frag'],
    ['https://example.com/?b=2&a=1&a=0', {}, 'https://example.com?a=1&a=0&b=2'],
    ['https://example.com/?utm_source=x&utm_medium=y', {}, 'https://example.com'],
    ['https://example.com/?utm_source=x&z=1&UTM_campaign=2', {}, 'https://example.com?UTM_campaign=2&z=1'],
    ['https://example.com/?q=a+b%20c&e=', {}, 'https://example.com?e=&q=a+b+c'],
    ['https://example.com/?q', {}, 'https://example.com?q='],
    ['https://example.com/?', {}, 'https://example.com'],
    ['https://example.com/?q=%E2%9C%93&x=ž', {}, 'https://example.com?q=%E2%9C%93&x=%C5%BE'],
    ['http://example.com:80/a', {}, 'http://example.com/a'],
    ['https://example.com:443/a', {}, 'https://example.com/a'],
    ['http://example.com:443/a', {}, 'http://example.com:443/a'],
    ['https://example.com:8443/a/', {}, 'https://example.com:8443/a'],
    ['https://user:pw@example.com/a', {}, 'https://example.com/a'],
    ['https://user@example.com/', {}, 'https://example.com'],
    ['https://bücher.example/straße', {}, 'https://xn--bcher-kva.example/stra%C3%9Fe'],
    ['https://xn--bcher-kva.example/', {}, 'https://xn--bcher-kva.example'],
    ['https://EXAMPLE.com./a', {}, 'https://example.com./a'],
    ['http://0x7f.1/', {}, 'http://127.0.0.1'],
    ['http://2130706433/a', {}, 'http://127.0.0.1/a'],
    ['http://127.1:8080/', {}, 'http://127.0.0.1:8080'],
    ['http://[::1]:80/a', {}, 'http://[::1]/a'],
    ['http://[0:0::1]/', {}, 'http://[::1]'],
    ['https://example.com/a/../b/./c', {}, 'https://example.com/b/c'],
    ['https://example.com/a/%2e%2e/b', {}, 'https://example.com/b'],
    ['https://example.com/.hidden/...', {}, 'https://example.com/.hidden/...'],
    ['https://example.com/%7Euser/%2F', {}, 'https://example.com/%7Euser/%2F'],
    ['https://example.com/a b', {}, 'https://example.com/a%20b'],
    ['  https://example.com/a  ', {}, 'https://example.com/a'],
    ['https:\\\\example.com\\a', {}, 'https://example.com/a'],
    ['https://example.com/a\tb\nc', {}, 'https://example.com/abc'],
    ['https://example.com/a;p=1/b,c', {}, 'https://example.com/a;p=1/b,c'],
    ["https://example.com/it's(1)!*", {}, "https://example.com/it's(1)!*"],
    ['https://example.com/?a=1&b=2;c=3', {}, 'https://example.com?a=1&b=2%3Bc%3D3'],
    ['https://example.com/?b&a&=x', {}, 'https://example.com?=x&a=&b='],
    ['https://example.com/?a=1#b?c=2', {}, 'https://example.com?a=1'],
    ['https://example.com?x=1', {}, 'https://example.com?x=1'],
    ['https://example.com#x', {}, 'https://example.com'],
    ['https://a_b.example.com/x', {}, 'https://a_b.example.com/x'],
    ['https://-a-.example.com/', {}, 'https://-a-.example.com'],
    ['https://example.com/é/%C3%A9', {}, 'https://example.com/%C3%A9/%C3%A9'],
    ['https://example.com/a', { method: 'POST', payload: 'x=1' }, 'https://example.com/a'],
    [
      'https://example.com/a/',
      { method: 'post', payload: 'x=1', useExtendedUniqueKey: true },
      'POST(HyBrEcIK):https://example.com/a',
    ],
    ['https://example.com/a', { useExtendedUniqueKey: true }, 'GET():https://example.com/a'],
    [
      'https://example.com/a',
      { method: 'PUT', payload: '', useExtendedUniqueKey: true },
      'PUT():https://example.com/a',
    ],
    [
      'https://example.com/a#f',
      { method: 'POST', payload: '{"ž":[1,2]}', useExtendedUniqueKey: true, keepUrlFragment: true },
      'POST(gYQ5uReh):https://example.com/a#f',
    ],
    ['https://example.com/a', { uniqueKey: 'my-key' }, 'my-key'],
  ])('of %j with %j is %j, as in Crawlee', (url, options, uniqueKey) => {
    expect(new Request({ url, ...options }).uniqueKey).toBe(uniqueKey);
  });

  it('leaves the URL as it was given', () => {
    expect(new Request({ url: 'HTTPS://Example.com/?b=1&a=2#x' }).url).toBe('HTTPS://Example.com/?b=1&a=2#x');
  });
});

describe('Request', () => {
  it('keeps label and userData.label one value', () => {
    const request = new Request<Dictionary>({ url: 'https://example.com/', label: 'A', userData: { page: 1 } });
    expect(request.userData).toEqual({ label: 'A', page: 1 });
    request.label = 'B';
    expect(request.userData.label).toBe('B');
    request.userData = { label: 'C' };
    expect(request.label).toBe('C');
  });

  it('does not change the userData object it was given', () => {
    const userData = { page: 1 };
    new Request({ url: 'https://example.com/', label: 'A', userData });
    expect(userData).toEqual({ page: 1 });
  });

  it.each<[string, unknown, RegExp]>([
    ['an unknown property', { url: 'https://example.com/', lable: 'A' }, /lable.*\(see docs\/from-crawlee\.md\)/],
    [
      'a method that is none',
      { url: 'https://example.com/', method: 'FETCH' },
      /method.*\(see docs\/from-crawlee\.md\)/,
    ],
    ['headers that are no strings', { url: 'https://example.com/', headers: { a: 1 } }, /headers/],
    ['a priority out of range', { url: 'https://example.com/', priority: 3 }, /priority/],
    ['a negative retry count', { url: 'https://example.com/', retryCount: -1 }, /retryCount/],
    ['a strategy that is none', { url: 'https://example.com/', enqueueStrategy: 'same-planet' }, /enqueueStrategy/],
    ['userData that is an array', { url: 'https://example.com/', userData: [] }, /userData/],
    ['nothing', null, /null/],
  ])('refuses %s', (_, options, message) => {
    const make = () => new Request(options as RequestOptions);
    expect(make).toThrow(RequestValidationError);
    expect(make).toThrow(message);
  });

  it.each<[string, unknown, string]>([
    ['text that is no URL', 'example', 'URL_INVALID'],
    ['a relative URL', '/a/b', 'URL_INVALID'],
    ['an empty URL', '', 'URL_INVALID'],
    ['a number', 7, 'URL_INVALID'],
    ['a URL without end', `https://example.com/${'a'.repeat(70_000)}`, 'URL_INVALID'],
    ['a mail address', 'mailto:a@example.com', 'URL_SCHEME'],
    ['a file', 'file:///etc/passwd', 'URL_SCHEME'],
  ])('refuses %s as URL by code', (_, url, code) => {
    try {
      new Request({ url: url as string });
      expect.unreachable();
    } catch (error) {
      expect((error as CrawlError).code).toBe(code);
    }
  });

  it('has the same id for the same unique key', () => {
    const [first, second] = [new Request({ url: 'https://example.com/a/' }), toRequest('https://EXAMPLE.com/a')];
    expect(first.id).toBe(second.id);
    expect(fingerprintFromId(first.id)).toEqual(first.fingerprint);
    expect(toRequest(first)).toBe(first);
  });

  it('keeps the newest twenty error messages, each cut to a sane length', () => {
    const request = new Request({ url: 'https://example.com/' });
    for (let attempt = 0; attempt < 30; attempt++) request.pushErrorMessage(`attempt ${attempt} ${'x'.repeat(9_000)}`);
    expect(request.errorMessages).toHaveLength(20);
    expect(request.errorMessages.at(-1)).toMatch(/^attempt 29 /);
    expect(Math.max(...request.errorMessages.map(({ length }) => length))).toBeLessThan(5_000);
  });

  it('accepts its own JSON', () => {
    const request = new Request({ url: 'https://example.com/a', label: 'A', priority: 1, headers: { a: 'b' } });
    const again = new Request(JSON.parse(JSON.stringify(request)) as RequestOptions);
    expect(again.toJSON()).toEqual(request.toJSON());
  });
});

// What JSON can say: it has no negative zero.
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const text = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('GET', '0', 'false', '{', 'null'));
const options: fc.Arbitrary<RequestOptions> = fc
  .record<RequestOptions>({
    url: fc.webUrl({ withQueryParameters: true, withFragments: true }),
    uniqueKey: optional(text),
    method: optional(fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH')),
    payload: optional(text),
    headers: optional(fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { noNullPrototype: true, minKeys: 1 })),
    userData: optional(fc.dictionary(fc.string(), json, { noNullPrototype: true })),
    retryCount: optional(fc.nat()),
    sessionRotationCount: optional(fc.nat()),
    maxRetries: optional(fc.nat({ max: 10 })),
    noRetry: optional(fc.boolean()),
    loadedUrl: optional(fc.webUrl()),
    errorMessages: optional(fc.array(fc.string(), { maxLength: 5 })),
    sessionId: optional(text),
    skipNavigation: optional(fc.boolean()),
    keepUrlFragment: optional(fc.boolean()),
    useExtendedUniqueKey: optional(fc.boolean()),
    crawlDepth: optional(fc.nat()),
    priority: optional(fc.constantFrom<Priority[]>(-2, -1, 0, 1, 2)),
    enqueueStrategy: optional(fc.constantFrom('all', 'same-domain', 'same-hostname', 'same-origin')),
    seeded: optional(fc.boolean()),
    state: optional(fc.constantFrom(RequestState.UNPROCESSED, RequestState.DONE, RequestState.ERROR)),
    handledAt: optional(fc.constant('2026-01-02T03:04:05.678Z')),
  })
  .map((given) => (['GET', undefined].includes(given.method) ? { ...given, payload: undefined } : given));

describe('a GET request', () => {
  it('cannot have a payload', () => {
    expect(() => new Request({ url: 'https://example.com/', payload: 'x' })).toThrow(
      /GET request cannot have a payload/,
    );
  });
});

describe('the packed form of a request', () => {
  it('brings back every property, whatever the values', () => {
    fc.assert(
      fc.property(options, (given) => {
        const request = new Request(given);
        const again = Request.fromRecord(request.toRecord(), request.priority);
        expect(again.toJSON()).toEqual(request.toJSON());
      }),
      { numRuns: 200 },
    );
  });

  it('keeps a limit of zero retries, which is not the default', () => {
    const request = new Request({ url: 'https://example.com/', maxRetries: 0 });
    expect(Request.fromRecord(request.toRecord()).maxRetries).toBe(0);
  });

  it('keeps a unique key that reads like a default of something else', () => {
    const request = new Request({ url: 'https://example.com/', uniqueKey: 'GET' });
    expect(Request.fromRecord(request.toRecord()).uniqueKey).toBe('GET');
  });

  it('keeps a date of handling given as Date', () => {
    const handledAt = new Date(1_700_000_000_000) as unknown as string;
    const request = new Request({ url: 'https://example.com/', handledAt });
    expect(Request.fromRecord(request.toRecord()).handledAt).toBe('2023-11-14T22:13:20.000Z');
  });

  it('of a link is the JSON of its URL, depth and strategy', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withFragments: true, withQueryParameters: true }),
        fc.nat(3),
        fc.constantFrom('same-domain' as const, 'all' as const, undefined),
        (url, crawlDepth, enqueueStrategy) => {
          const record = new Request({ url, crawlDepth, enqueueStrategy }).toRecord();
          const parts = { u: url, c: crawlDepth === 0 ? undefined : crawlDepth, g: enqueueStrategy };
          expect(record).toBe(crawlDepth === 0 && !enqueueStrategy ? url : JSON.stringify(parts));
        },
      ),
    );
  });

  it('is the bare URL when there is nothing else to say', () => {
    expect(new Request({ url: 'https://example.com/a?b#c' }).toRecord()).toBe('https://example.com/a?b#c');
  });
});
