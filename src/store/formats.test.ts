import { describe, expect, it } from 'vitest';
import {
  encoderOf,
  extensionOfFormat,
  formatHelp,
  formatsOf,
  isPageFormat,
  pageAmongOthers,
  pageFileText,
  type PageParts,
  pageText,
} from './formats.js';

const page: PageParts = {
  url: 'https://a.example/--x>',
  title: 'A',
  text: ' some text ',
  markdown: '\n# A\n\nwhole\n',
  fit: 'main',
  html: '<p>x',
  links: ['https://a.example/1', 'https://a.example/2'],
};

describe('output formats', () => {
  it('lists the formats each command offers', () => {
    expect(formatsOf('export')).toEqual(['jsonl', 'json', 'csv', 'parquet']);
    expect(formatsOf('crawl')).toEqual(['jsonl', 'json', 'csv', 'parquet', 'markdown', 'fit', 'text']);
    expect(formatsOf('batch')).toEqual(['jsonl', 'json', 'csv', 'markdown', 'fit', 'text', 'html', 'links']);
    expect(formatsOf('scrape')).toEqual(['json', 'markdown', 'fit', 'text', 'html', 'links']);
  });

  it('gives the formats of a crawl files of different names', () => {
    // Both are the main content there.
    const names = formatsOf('crawl')
      .filter((name) => name !== 'fit')
      .map(extensionOfFormat);
    expect(new Set(names).size).toBe(names.length);
  });

  it('describes in --help only what the command offers', () => {
    expect(formatHelp('crawl')).not.toContain('links');
    expect(formatHelp('batch')).toContain('fit: markdown of the main content');
  });

  it('writes documents that read back, also of no items', () => {
    const items = [
      { a: 1, b: 'x,"y"' },
      { a: 2, c: null },
    ];
    for (const some of [[], items.slice(0, 1), items]) {
      const json = encoderOf('json');
      expect(JSON.parse(some.map((item) => json.add([item])).join('') + String(json.end()))).toEqual(some);
      const lines = encoderOf('jsonl');
      const text = String(lines.add(some)) + String(lines.end());
      expect(
        text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual(some);
    }
    const csv = encoderOf('csv');
    expect(String(csv.add(items)) + String(csv.end())).toBe('a,b\n1,"x,""y"""\n2,\n');
    expect(encoderOf('csv').end()).toBe('');
    expect(encoderOf('csv', ['a', 'b']).end()).toBe('a,b\n');
  });

  it('writes a page alone, as a file and among others', () => {
    expect(pageText('markdown', page)).toBe('# A\n\nwhole');
    expect(pageFileText('markdown', page)).toBe('# A\n\nwhole\n');
    expect(pageFileText('html', page)).toBe('<p>x');
    expect(pageText('links', page)).toBe('https://a.example/1\nhttps://a.example/2');
    expect(pageAmongOthers('text', page)).toBe('# A\nhttps://a.example/--x>\n\nsome text\n\n\n');
    expect(pageAmongOthers('markdown', { ...page, heading: 'A' })).toMatch(/^# A\n\n<https:.*\n---\n\n$/s);
  });

  it('puts a URL into a comment that it cannot end', () => {
    const text = pageAmongOthers('fit', page);
    expect(text).toBe('<!-- https://a.example/-&#45;x&gt; -->\n\nmain\n\n');
  });

  it('knows which formats can be a file per page', () => {
    expect(formatsOf('batch').filter(isPageFormat)).toEqual(['markdown', 'fit', 'text', 'html', 'links']);
  });
});
