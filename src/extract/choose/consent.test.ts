// Which elements of a page ask for consent to cookies.
import { describe, expect, it } from 'vitest';
import { extractContent, viewPage } from '../../crawl/page/extraction.js';
import { consentNodes } from './consent.js';
import { CONTAINER, STRIDE } from '../page/segment.js';

/** The texts in consent dialogs. */
function asked(html: string): string[] {
  const view = viewPage(html);
  const { blocks, count } = view.segments;
  const nodes = consentNodes(view.segments);
  return Array.from({ length: count }, (_, b) => b)
    .filter((b) => nodes?.[blocks[b * STRIDE + CONTAINER]!] === 1)
    .map((b) => view.blockText(b));
}

describe('consentNodes', () => {
  it('knows the names of the software and of the thing itself', () => {
    for (const name of ['onetrust-consent-sdk', 'CybotCookiebotDialog', 'cookie-banner', 'cookieConsent', 'gdpr_popup'])
      expect(asked(`<p>Text</p><div id="${name}"><p>We use cookies</p></div>`), name).toEqual(['We use cookies']);
  });

  it('leaves recipes for cookies, and wrappers that tell of a banner, alone', () => {
    expect(asked('<div class="cookie-recipe"><p>Bake for ten minutes</p></div>')).toEqual([]);
    expect(asked('<div class="page cookie-banner-open"><h1>Title</h1><p>Text</p></div>')).toEqual([]);
    expect(asked('<body class="cmplz-consent"><p>Text</p></body>')).toEqual([]);
  });

  it('keeps such a dialog out of the content, however much it says', () => {
    const purpose =
      '<p>Information about your activity on this service, such as forms you submit and content you look at, can be stored ' +
      'and combined with other information about you or similar users. Our partners can use this purpose as well.</p>';
    const text =
      '<p>The harbour was built in 1874, when the herring fleet had outgrown the old quay, and the stones came by sea.</p>';
    const page = `<main><h1>The harbour</h1>${text.repeat(3)}</main><div id="onetrust-pc-sdk">${purpose.repeat(20)}</div>`;
    const content = extractContent(page);
    expect(content.text).toContain('herring fleet');
    expect(content.text).not.toContain('partners');
  });

  it('keeps it out of a small page that is kept whole otherwise', () => {
    const page = '<h1>Moved</h1><p>This page has moved.</p><div class="klaro"><p>We use cookies.</p></div>';
    expect(extractContent(page).text).toBe('Moved\nThis page has moved.');
  });
});
