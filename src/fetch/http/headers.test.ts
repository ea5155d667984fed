import { describe, expect, it } from 'vitest';
import { basicCredentials } from '../../request/login.js';
import { headerText, incomingHeaders, mergeCookies, outgoingHeaders } from './headers.js';

const hop = (headers: Record<string, string>, url = 'http://a.example/') => ({
  url: new URL(url),
  method: 'GET',
  headers,
});

describe('outgoingHeaders', () => {
  it('sends the order and adds accept-encoding only', () => {
    expect(outgoingHeaders(hop({ 'User-Agent': 'u' }), '', 'gzip')).toEqual([
      'User-Agent',
      'u',
      'accept-encoding',
      'gzip',
    ]);
  });

  it("leaves the order's own accept-encoding alone", () => {
    expect(outgoingHeaders(hop({ 'Accept-Encoding': 'identity' }), '', 'gzip')).toEqual([
      'Accept-Encoding',
      'identity',
    ]);
  });

  it('keeps headers that belong to the connection out', () => {
    const order = { Connection: 'close', 'Transfer-Encoding': 'chunked', Expect: '100-continue', Upgrade: 'h2c' };
    expect(outgoingHeaders(hop({ ...order, 'Content-Length': '5' }), '', 'gzip')).toEqual(['accept-encoding', 'gzip']);
  });

  it('turns credentials in the URL into an Authorization header unless there is one', () => {
    const url = 'http://us%40er:p%C3%A4ss@a.example/';
    const basic = `Basic ${Buffer.from('us@er:päss').toString('base64')}`;
    expect(basicCredentials(new URL(url))).toBe(basic);
    expect(outgoingHeaders(hop({}, url), '', 'gzip')).toContain(basic);
    expect(outgoingHeaders(hop({ Authorization: 'Bearer x' }, url), '', 'gzip')).not.toContain(basic);
  });
});

describe('mergeCookies', () => {
  it('joins both, the explicit one winning by name', () => {
    expect(mergeCookies('a=1; b=2', 'b=3; c=4')).toBe('a=1; b=3; c=4');
    expect(mergeCookies('', 'b=3')).toBe('b=3');
    expect(mergeCookies('a=1', '')).toBe('a=1');
  });
});

describe('incomingHeaders', () => {
  it('joins repeated headers, lists cookies and takes the first Location', () => {
    const parsed = { vary: ['a', 'b'], 'set-cookie': 'x=1', location: ['/1', '/2'], etag: '"e"' };
    expect(incomingHeaders(parsed)).toEqual({
      vary: 'a, b',
      'set-cookie': ['x=1'],
      location: '/1',
      etag: '"e"',
    });
  });

  it('does not mistake what objects inherit for headers', () => {
    expect(headerText({}, 'constructor')).toBeUndefined();
    expect(headerText({ vary: 'a' }, 'vary')).toBe('a');
  });
});
