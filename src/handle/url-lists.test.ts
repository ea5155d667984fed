// URLs out of text.
import { describe, expect, it } from 'vitest';
import { createListDownloader, extractUrls, URL_NO_COMMAS_REGEX, URL_WITH_COMMAS_REGEX } from './url-lists.js';
import { sleep } from './toolbox.js';

describe('extractUrls', () => {
  it.each<[string, string[]]>([
    ['https://example.com', ['https://example.com']],
    [
      'see https://example.com/a?b=c#d and http://b.example:8080/x.',
      ['https://example.com/a?b=c#d', 'http://b.example:8080/x.'],
    ],
    [
      'https://a.example/1,https://a.example/2\nhttps://a.example/3',
      ['https://a.example/1', 'https://a.example/2', 'https://a.example/3'],
    ],
    ['["https://a.example/x","https://b.example/y"]', ['https://a.example/x', 'https://b.example/y']],
    ['<a href="https://a.example/(x)">', ['https://a.example/(x)']],
    ['HTTPS://EXAMPLE.COM/A', ['HTTPS://EXAMPLE.COM/A']],
    ['https://bücher.example/straße', ['https://bücher.example/straße']],
    ['https://user:pw@example.com/', ['https://user:pw@example.com/']],
    ['http://127.0.0.5:8080/a http://localhost:3000/b', ['http://127.0.0.5:8080/a', 'http://localhost:3000/b']],
    ['https://example.com?q=1', ['https://example.com?q=1']],
    ['ftp://example.com mailto:a@b.example www.example.com https://', []],
    ['https://example', []],
    ['', []],
  ])('of %j are %j', (string, urls) => {
    expect(extractUrls({ string })).toEqual(urls);
  });

  it('keep commas when asked to', () => {
    const string = 'https://a.example/1,2';
    expect(extractUrls({ string, urlRegExp: URL_WITH_COMMAS_REGEX })).toEqual([string]);
    expect(extractUrls({ string, urlRegExp: URL_NO_COMMAS_REGEX })).toEqual(['https://a.example/1']);
  });

  it('finds all matches of an expression without the global flag too', () => {
    expect(extractUrls({ string: 'x1 x2', urlRegExp: /x\d/ })).toEqual(['x1', 'x2']);
  });

  it('takes half a million URLs on one line', () => {
    expect(extractUrls({ string: 'https://a.example/1 '.repeat(500_000) })).toHaveLength(500_000);
  });

  it.each([
    ['http://'.repeat(50_000)],
    [`https://${'a'.repeat(500_000)}`],
    [`https://${'a.'.repeat(250_000)}`],
    [`https://${'a-'.repeat(250_000)}`],
    ['https://a@'.repeat(50_000)],
    [`https://${'é'.repeat(500_000)}`],
  ])('does not slow down on hostile text', (string) => {
    expect(secondsFor(() => extractUrls({ string }))).toBeLessThan(
      60 * secondsFor(() => extractUrls({ string: string.slice(0, string.length / 10) })) + 0.5,
    );
  });

  it('refuses anything but a string by name', () => {
    expect(() => extractUrls({ string: 7 as unknown as string })).toThrow(/extractUrls option "string"/);
  });
});

/** CPU seconds of a call: not disturbed by what else runs. */
function secondsFor(call: () => unknown): number {
  const before = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

describe('downloadListOfUrls', () => {
  it('extracts the URLs of what was fetched, with the encoding and proxy given', async () => {
    const calls: unknown[] = [];
    const download = createListDownloader(async (url, options) => {
      calls.push([url, options]);
      return 'https://a.example/1\nhttps://a.example/2';
    });
    expect(await download({ url: 'https://lists.example/x.txt', proxyUrl: 'http://proxy.example:8000' })).toEqual([
      'https://a.example/1',
      'https://a.example/2',
    ]);
    expect(calls).toEqual([
      ['https://lists.example/x.txt', { encoding: 'utf8', proxyUrl: 'http://proxy.example:8000' }],
    ]);
  });

  it('asks a shared Google sheet for its CSV form', async () => {
    const asked: string[] = [];
    const download = createListDownloader(async (url) => {
      asked.push(url);
      return '';
    });
    await download({ url: 'https://docs.google.com/spreadsheets/d/1a-B_c/edit?usp=sharing' });
    expect(asked).toEqual(['https://docs.google.com/spreadsheets/d/1a-B_c/gviz/tq?tqx=out:csv']);
  });

  it('refuses what is no http URL before anything is fetched', async () => {
    const download = createListDownloader(() => Promise.reject(new Error('must not be called')));
    await expect(download({ url: 'file:///etc/passwd' })).rejects.toThrow(/an http or https URL/);
    await expect(download({ url: 'https://a.example/', encoding: 'klingon' as BufferEncoding })).rejects.toThrow(
      /encoding/,
    );
  });
});

describe('sleep', () => {
  it.each([undefined, 0, -5, NaN, 1])('of %s milliseconds ends', async (millis) => {
    await expect(sleep(millis)).resolves.toBeUndefined();
  });
});
