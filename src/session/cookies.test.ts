// Unit tests of the bounds on what servers may set.
import { describe, expect, it } from 'vitest';
import { createCookies } from './cookies.js';

const URL_A = 'http://a.example/';

describe('cookies', () => {
  it('answers without a jar when there is nothing', () => {
    const cookies = createCookies();
    expect([cookies.header(URL_A), cookies.list(URL_A), cookies.serialize()]).toEqual(['', [], undefined]);
  });

  it.each([
    ['', URL_A],
    ['=', URL_A],
    ['no equals sign', URL_A],
    ['a=1; Domain=other.example', URL_A],
    ['a=1; Domain=com', 'http://a.com/'],
    [`a=${'x'.repeat(5_000)}`, URL_A],
    [`a=1; Path=/${'x'.repeat(10_000)}`, URL_A],
    ['a=1', 'not a url'],
  ])('drops %.40j at %s without an error', (line, url) => {
    const cookies = createCookies();
    expect(cookies.setLine(line, url)).toBe(false);
    expect(cookies.header(URL_A)).toBe('');
  });

  it('gives nothing for what is not a URL', () => {
    const cookies = createCookies();
    cookies.setLine('a=1', URL_A);
    expect(cookies.header('not a url')).toBe('');
    expect(cookies.list('http://[')).toEqual([]);
  });

  it('keeps at most 180 cookies of a domain, and the newest', () => {
    const cookies = createCookies();
    for (let index = 0; index < 1_000; index++) {
      cookies.setLine(`c${index}=1`, URL_A);
      expect(cookies.list(URL_A).length).toBeLessThanOrEqual(180);
    }
    expect(cookies.header(URL_A)).toContain('c999=1');
    expect(cookies.header(URL_A)).not.toContain('c0=1;');
  });

  it('does not count a cookie that is set again and again', () => {
    const cookies = createCookies();
    cookies.setLine('first=1', URL_A);
    for (let index = 0; index < 1_000; index++) cookies.setLine(`same=${index}`, URL_A);
    expect(cookies.header(URL_A)).toBe('first=1; same=999');
  });

  it('keeps at most 3,000 cookies in all', () => {
    const cookies = createCookies();
    for (let site = 0; site < 35; site++) {
      for (let index = 0; index < 100; index++) cookies.setLine(`c${index}=1`, `http://site${site}.example/`);
    }
    expect(cookies.serialize()!.cookies.length).toBeLessThanOrEqual(3_000);
    expect(cookies.list('http://site34.example/')).toHaveLength(100);
  });

  it('begins empty when what was persisted cannot be read', () => {
    const cookies = createCookies({ version: 'x', cookies: 'garbage' } as never);
    expect(cookies.header(URL_A)).toBe('');
    expect(cookies.setLine('a=1', URL_A)).toBe(true);
  });

  it('counts a cookie that is set again once: a flood of one costs no more than one of many', () => {
    const cookies = createCookies();
    for (let index = 0; index < 179; index++) cookies.setLine(`c${index}=1`, URL_A);
    for (let round = 0; round < 500; round++) cookies.setLine(`c0=${round}`, URL_A);
    // Had every one been counted anew, the oldest would be gone.
    expect(cookies.list(URL_A)).toHaveLength(179);
    expect(cookies.header(URL_A)).toContain('c0=499');
  });

  it('lets nobody without TLS replace or hide a secure cookie, or set one', () => {
    const cookies = createCookies();
    expect(cookies.setLine('id=safe; Secure; Path=/', 'https://a.example/')).toBe(true);
    for (const line of ['id=evil', 'id=evil; Path=/account', 'id=evil; Domain=a.example', 'other=1; Secure']) {
      expect(cookies.setLine(line, 'http://a.example/')).toBe(false);
    }
    expect(cookies.header('https://a.example/account')).toBe('id=safe');
    expect(cookies.setLine('id=new; Secure; Path=/', 'https://a.example/')).toBe(true);
    expect(cookies.setLine('free=1', 'http://a.example/')).toBe(true);
    expect(cookies.setLine('local=1; Secure', 'http://localhost/')).toBe(true);
  });

  it('holds cookies to what their names promise, in any case', () => {
    const cookies = createCookies();
    const broken = [
      '__Host-a=1',
      '__host-a=1; Secure; Path=/x',
      '__HOST-a=1; Secure; Path=/; Domain=a.example',
      '__secure-a=1',
    ];
    for (const line of broken) expect(cookies.setLine(line, 'https://a.example/')).toBe(false);
    expect(cookies.setLine('__host-a=1; Secure; Path=/', 'http://a.example/')).toBe(false);
    expect(cookies.setLine('__host-a=1; Secure; Path=/', 'https://a.example/')).toBe(true);
    expect(cookies.setLine('__Secure-b=1; Secure; Domain=a.example', 'https://a.example/')).toBe(true);
  });
});
