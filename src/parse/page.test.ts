// The lazy content object: nothing happens before the first read, and only one scan after it.
import { describe, expect, it } from 'vitest';
import { pageExtraction } from '../crawl/page/extraction.js';
import { createPageContent } from './page.js';

describe('createPageContent', () => {
  it('reads title, text, links, metadata and language', () => {
    const body = Buffer.from('<html lang=fr><title>T</title><meta name=description content=D><p>x <a href=/y>z</a>');
    const content = createPageContent(body, 'https://example.com/', 'text/html', pageExtraction);
    expect([content.title, content.text, content.language]).toEqual(['T', 'x z', 'fr']);
    expect(content.links).toEqual([{ url: 'https://example.com/y', text: 'z', rel: '', element: 'a' }]);
    expect(content.metadata).toMatchObject({ description: 'D', charset: 'utf-8', canonical: null, language: 'fr' });
  });

  it('looks at the bytes only when first asked, and then once', () => {
    const body = Buffer.from('<title>one</title>');
    const content = createPageContent(body, 'https://example.com/', null, pageExtraction);
    body.write('<title>two</title>');
    expect(content.title).toBe('two');
    expect(content.links).toBe(content.links);
    expect(content.metadata).toBe(content.metadata);
  });
});
