import { describe, expect, it } from 'vitest';
import { proxiesOf } from './proxies.js';

describe('the proxy of a URL', () => {
  it('is the one of --proxy for all, also for this machine, whatever the environment says', () => {
    const proxyFor = proxiesOf({ proxy: 'user:pw@proxy.test:8080' }, { HTTP_PROXY: 'http://other.test' })!;
    expect([proxyFor('https://a.test/'), proxyFor('http://127.0.0.1/')]).toEqual([
      'http://user:pw@proxy.test:8080',
      'http://user:pw@proxy.test:8080',
    ]);
  });

  it('is that of the environment by scheme, in either case, or ALL_PROXY', () => {
    const both = proxiesOf({}, { http_proxy: 'http://plain.test:1', HTTPS_PROXY: 'https://secure.test:2' })!;
    expect([both('http://a.test/'), both('https://a.test/')]).toEqual(['http://plain.test:1', 'https://secure.test:2']);
    expect(proxiesOf({}, { HTTPS_PROXY: 'http://p.test' })!('http://a.test/')).toBeUndefined();
    expect(proxiesOf({}, { ALL_PROXY: 'p.test:3' })!('https://a.test/')).toBe('http://p.test:3');
  });

  it('is none with --no-proxy, and when nothing names one', () => {
    expect(proxiesOf({ proxy: false }, { HTTP_PROXY: 'http://p.test' })).toBeUndefined();
    expect(proxiesOf({}, { NO_PROXY: '*', HTTP_PROXY: '' })).toBeUndefined();
  });

  it.each([
    ['http://localhost:8080/', ''],
    ['http://127.0.0.9/', ''],
    ['http://[::1]/', ''],
    ['http://www.example.com/', 'other.test, example.com'],
    ['http://example.com/', '.example.com'],
    ['http://a.example.com/', '*.example.com'],
    ['http://example.com:8080/', 'example.com:8080'],
    ['https://example.com/', 'example.com:443'],
    ['http://10.1.2.3/', '10.0.0.0/8'],
    ['http://[fd00::1]/', 'fd00::/8'],
    ['http://anything.test/', '*'],
  ])('is none for %s with NO_PROXY=%s', (url, NO_PROXY) => {
    expect(
      proxiesOf({}, { HTTP_PROXY: 'http://p.test', HTTPS_PROXY: 'http://p.test', NO_PROXY })!(url),
    ).toBeUndefined();
  });

  it.each([
    ['http://badexample.com/', 'example.com'],
    ['http://example.com:81/', 'example.com:80'],
    ['http://11.1.2.3/', '10.0.0.0/8'],
    ['http://example.com/', 'a.example.com'],
  ])('is used for %s with NO_PROXY=%s', (url, NO_PROXY) => {
    expect(proxiesOf({}, { HTTP_PROXY: 'http://p.test', NO_PROXY })!(url)).toBe('http://p.test');
  });

  it.each([
    ['--proxy', { proxy: 'socks4://user:secret@p.test' }, {}],
    ['HTTPS_PROXY', {}, { HTTPS_PROXY: 'ftp://user:secret@p.test' }],
    ['--proxy', { proxy: 'http://' }, {}],
  ])('is refused by name and without its password: %s', (name, flags, env) => {
    expect(() => proxiesOf(flags, env)).toThrow(new RegExp(`^${name} (?!.*secret)`));
  });
});
