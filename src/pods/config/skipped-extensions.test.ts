import { describe, expect, it } from 'vitest';
import { createExtensionTest, SKIPPED_EXTENSIONS } from './skipped-extensions.js';

const isSkipped = createExtensionTest(SKIPPED_EXTENSIONS);

describe('the endings that are not queued', () => {
  it.each([
    'https://a.example/film.mp4',
    'https://a.example/Film.MP4?autoplay=1',
    'https://a.example/x/y.tar.gz#top',
    'https://a.example/report.v2.pdf',
    'http://a.example/image.jpeg?x=/page',
    'https://a.example/tool.app',
    'https://a.example/design.fig',
  ])('skips %s', (url) => expect(isSkipped(url)).toBe(true));

  it.each([
    'https://a.example/',
    'https://a.example',
    'https://site.zip',
    'https://site.zip?x=a.pdf',
    'https://a.example/page.html',
    'https://a.example/feed.xml',
    'https://a.example/film.mp4/comments',
    'https://a.example/mp4',
    'https://a.example/view?file=a.pdf',
    'https://a.example/wiki/Node.js',
    'https://a.example/about.example.com',
  ])('keeps %s', (url) => expect(isSkipped(url)).toBe(false));

  it('lists each ending once, in lower case', () => {
    expect(new Set(SKIPPED_EXTENSIONS).size).toBe(SKIPPED_EXTENSIONS.length);
    for (const ending of SKIPPED_EXTENSIONS) expect(ending).toMatch(/^[a-z0-9]+$/);
  });
});
