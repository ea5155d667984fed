import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexLine, looksLikeIndexLine, parseIndexLine, surtOf, timestampOf, type IndexEntry } from './cdxj.js';

const anything = fc.string({ unit: 'binary', maxLength: 40 });
const entries: fc.Arbitrary<IndexEntry> = fc.record({
  url: anything,
  uniqueKey: anything,
  loadedUrl: anything,
  statusCode: fc.integer({ min: 100, max: 599 }),
  fetchedAtMs: fc.integer({ min: 0, max: 4e12 }),
  contentType: anything,
  depth: fc.nat(),
  digest: fc.stringMatching(/^[A-Z2-7]{32}$/),
  filename: fc.stringMatching(/^[\w.-]{1,20}$/),
  offset: fc.nat(),
  length: fc.nat(),
});

describe('surtOf', () => {
  it('turns the host around, and drops scheme, case and www', () => {
    expect(surtOf('https://www.Example.com/A?b=C')).toBe('com,example)/a?b=c');
    expect(surtOf('http://www2.example.co.uk:8080')).toBe('uk,co,example:8080)/');
    expect(surtOf('https://example.com?q=1')).toBe('com,example)/?q=1');
    expect(surtOf('http://127.0.0.1:81/x')).toBe('127.0.0.1:81)/x');
    expect(surtOf('http://[::1]:81/x')).toBe('[::1]:81)/x');
    expect(surtOf('my own key')).toBe('my%20own%20key');
  });
});

describe('an index line', () => {
  it('has the form that archive tools read', () => {
    const line = indexLine({
      url: 'https://example.com/a',
      uniqueKey: 'https://example.com/a',
      statusCode: 200,
      fetchedAtMs: Date.UTC(2026, 0, 31, 23, 59, 58, 7),
      contentType: 'text/html',
      depth: 3,
      digest: 'ABC',
      filename: 'x.warc.gz',
      offset: 10,
      length: 20,
    });
    expect(line).toBe(
      'com,example)/a 20260131235958 {"url":"https://example.com/a","mime":"text/html","status":"200","digest":"ABC",' +
        '"length":"20","offset":"10","filename":"x.warc.gz","fetched_at":"2026-01-31T23:59:58.007Z","depth":3}\n',
    );
    expect(timestampOf(0)).toBe('19700101000000');
  });

  it('is one line of three parts that gives its entry back, whatever the URL', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const line = indexLine(entry);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(line.split(' ')[1]).toMatch(/^\d{14}$/);
        const read = parseIndexLine(line.slice(0, -1));
        expect({ ...read, loadedUrl: read?.loadedUrl ?? entry.url }).toEqual(entry);
        expect(looksLikeIndexLine(Buffer.from(line.slice(0, -1)))).toBe(true);
      }),
    );
  });

  it('that is cut short is none', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (entry, cut) => {
        const line = indexLine(entry).slice(0, -1);
        const half = line.slice(0, cut % line.length);
        expect(parseIndexLine(half)).toBeUndefined();
        expect(parseIndexLine(half)).toBeUndefined();
      }),
    );
  });
});
