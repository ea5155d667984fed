// Small pages of our own in the markup of well-known software, beside the markdown that a reader would want, both written
// by hand. Real pages of such software are in known-pages.test.ts, where the data is there.
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { extractContent } from '../../src/crawl/page/extraction.js';

const FOLDER = new URL('known-software/', import.meta.url);
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.html'))
  .map((file) => file.slice(0, -'.html'.length));

describe('pages in the markup of well-known software', () => {
  it.each(names)('%s', (name) => {
    const page = readFileSync(new URL(`${name}.html`, FOLDER));
    const { markdown } = extractContent(page, { url: 'https://known.example/docs/page', title: true });
    expect(`${markdown}\n`).toBe(readFileSync(new URL(`${name}.md`, FOLDER), 'utf8'));
  });
});
