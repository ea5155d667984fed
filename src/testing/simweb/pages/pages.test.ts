// Pages are the same bytes for the same seed, have the asked size, and carry exactly the planned links.
import { createHash } from 'node:crypto';
import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import type { SimwebOptions } from '../knobs.js';
import { planSimweb } from '../options.js';
import { createPageMaker } from './pages.js';
import { createUrls } from './urls.js';

function build(options: SimwebOptions) {
  const plan = planSimweb({ addressing: 'addresses', ...options });
  const { urls, site } = createUrls(plan, { listening: [8000], closed: 8001 });
  return { urls, site, pages: createPageMaker(plan, site) };
}

interface Node {
  readonly nodeName: string;
  readonly attrs?: readonly { name: string; value: string }[];
  readonly childNodes?: readonly Node[];
}

/** Every href of an `a` in a tree built by parse5. */
function hrefsOf(node: Node): string[] {
  const own =
    node.nodeName === 'a' ? (node.attrs ?? []).filter(({ name }) => name === 'href').map(({ value }) => value) : [];
  return [...own, ...(node.childNodes ?? []).flatMap(hrefsOf)];
}

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

describe('pages of the synthetic web', () => {
  it('are the same bytes for the same seed, on every machine and in every run', () => {
    const knobs = { seed: 42, hosts: 3, pagesPerHost: 50, crossHostLinks: 0.2 };
    const first = build(knobs).pages.html(1, 7, 0);
    expect(build(knobs).pages.html(1, 7, 0).equals(first)).toBe(true);
    expect(sha(first)).toBe('dde5ccf3f073e3db');
  });

  it('differ by seed, host, page and version', () => {
    const knobs = { hosts: 3, pagesPerHost: 50 };
    const one = build({ ...knobs, seed: 1 }).pages;
    const two = build({ ...knobs, seed: 2 }).pages;
    const all = [one.html(0, 3, 0), two.html(0, 3, 0), one.html(1, 3, 0), one.html(0, 4, 0), one.html(0, 3, 1)];
    expect(new Set(all.map(sha)).size).toBe(5);
    expect(one.etag(0, 3, 0)).not.toBe(one.etag(0, 3, 1));
    expect(one.lastModified(0, 3, 1).getTime()).toBeGreaterThan(one.lastModified(0, 3, 0).getTime());
  });

  it('have a size within the asked range, spread over it', () => {
    const { pages } = build({ pagesPerHost: 300, pageBytes: [12_000, 60_000] });
    const sizes = Array.from({ length: 300 }, (_, page) => pages.html(0, page, 0).length);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(12_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(60_000);
    expect(sizes.filter((size) => size < 27_000).length).toBeGreaterThan(90);
    expect(sizes.filter((size) => size > 27_000).length).toBeGreaterThan(90);
    expect(build({ pagesPerHost: 9, pageBytes: 20_000 }).pages.html(0, 4, 0)).toHaveLength(20_000);
  });

  it('carry every planned link once, well escaped, and no other link that a crawler follows', () => {
    const { pages, site } = build({
      hosts: 4,
      pagesPerHost: 80,
      crossHostLinks: 0.2,
      linkNoise: { utm: 0.3, fragments: 0.2, nofollow: 0.2 },
    });
    for (const page of [0, 1, 9, 79]) {
      const tree = parse(pages.html(2, page, 0).toString('utf8')) as unknown as Node;
      const followed = hrefsOf(tree).filter((href) => !/^(?:mailto|javascript|tel):/.test(href));
      const planned = site.links(2, page).map(({ href }) => href);
      expect(followed.sort()).toEqual(planned.sort());
    }
  });

  it('are valid UTF-8 with letters beyond ASCII', () => {
    const { pages } = build({ pagesPerHost: 20 });
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const text = Array.from({ length: 20 }, (_, page) => decoder.decode(pages.html(0, page, 0))).join('');
    expect(text).toContain('東京');
    expect(text).toContain('&eacute;');
  });
});
