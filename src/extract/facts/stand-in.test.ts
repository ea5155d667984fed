// What stands in for the text of a page that comes with its scripts.
import { describe, expect, it } from 'vitest';
import { extractContent, toMarkdown } from '../../crawl/page/extraction.js';

const posts = {
  '@type': 'QAPage',
  mainEntity: {
    '@type': 'Question',
    text: '<p>Which boat is best for <b>cold</b> water?</p><p>I would like to watch orcas &amp; seals from it.</p>',
    acceptedAnswer: {
      '@type': 'Answer',
      text: 'A heavy one with a cabin. * Bring tea, and a coat for everyone aboard.',
    },
    suggestedAnswer: [
      { '@type': 'Answer', text: 'None: stay on land <script>alert(1)</script> and take a telescope.' },
    ],
  },
};
const shell = (head: string, body = '<div id="app"></div>'): string =>
  `<!doctype html><title>Boats</title>${head}<body>${body}<noscript>Turn on JavaScript.</noscript>`;
const linkedData = `<script type="application/ld+json">${JSON.stringify(posts).replaceAll('</', '<\\/')}</script>`;

describe('a page that shows next to nothing', () => {
  it('gives the posts of its JSON-LD in the order of reading, as plain text', () => {
    const content = extractContent(shell(linkedData));
    expect(content.text.split('\n')).toEqual([
      'Which boat is best for cold water?',
      'I would like to watch orcas & seals from it.',
      'A heavy one with a cabin. * Bring tea, and a coat for everyone aboard.',
      'None: stay on land alert(1) and take a telescope.',
    ]);
    expect(content.html).toContain('<p>I would like to watch orcas &amp; seals from it.</p>');
    expect(content.html).not.toContain('<script');
    expect(content.markdown).toContain('A heavy one with a cabin. \\* Bring tea');
    expect(content.confidence).toBeLessThan(0.2);
    expect(toMarkdown(shell(linkedData)).fit).toBe(content.markdown);
  });

  it('gives its title and description when it shows no word at all', () => {
    const page =
      '<title>Boats</title><meta name="description" content="Three boats &lt;b&gt;for sale&lt;/b&gt;&amp;hellip;"><div></div>';
    expect(extractContent(page).text).toBe('Three boats for sale…');
    expect(extractContent(`<meta property="og:title" content="Boats">${page}`).text).toBe(
      'Boats\nThree boats for sale…',
    );
    expect(extractContent(`${page}<p>Loading</p>`).text).toBe('Loading');
  });

  it('gives the prose in the data for its scripts, wherever that stands', () => {
    const cooked = '<p>Which boat is best for cold water, when the wind comes from the north?</p>';
    const reply = 'A heavy one with a cabin. Bring tea, and a coat for everyone aboard. '.repeat(6);
    const topic = {
      i18n: { hint: 'Sign in to answer this question, or make an account.' },
      posts: [{ cooked }, { text: reply }],
    };
    const json = JSON.stringify(topic).replaceAll('<', '\\u003c');
    const attribute = JSON.stringify({ topic: JSON.stringify(topic) })
      .replaceAll('&', '&amp;')
      .replaceAll('"', '&quot;');
    for (const body of [
      `<script id="__NEXT_DATA__" type="application/json">${json}</script>`,
      `<script>window.__STATE__ = ${json};</script>`,
      `<div id="data-preloaded" data-preloaded="${attribute}"></div>`,
    ]) {
      const { text, html } = extractContent(shell('', body));
      expect(text).toContain('Which boat is best for cold water, when the wind comes from the north?');
      expect(text).toContain('Bring tea, and a coat');
      expect(text).not.toMatch(/Sign in|<p>/);
      expect(html).not.toContain('<script');
    }
  });

  it('leaves data that is no prose', () => {
    const rows = Array.from({ length: 300 }, (_, k) => ({
      id: k,
      name: `Boat ${k}`,
      url: `https://boats.example/${k}/view?from=list`,
    }));
    const page = shell(
      '',
      `<script type="application/json">${JSON.stringify(rows)}</script><p>Loading the list of boats</p>`,
    );
    expect(extractContent(page).text).toContain('Loading the list of boats');
    expect(extractContent(page).text).not.toContain('Boat 7');
  });

  it('keeps to the page where it has text of its own', () => {
    const text = '<p>Boats for cold water are heavy, as those who sail there tell everyone who asks.</p>'.repeat(5);
    expect(extractContent(shell(linkedData, text)).text).not.toContain('telescope');
  });

  it('takes deep, wide and torn data as it comes', () => {
    // Built as text: two thousand levels, each holding the next.
    const deep = '{"@type":"Comment","text":"one of many levels","comment":'.repeat(2_000) + 'null' + '}'.repeat(2_000);
    expect(() => extractContent(shell(`<script type="application/ld+json">${deep}</script>`)).text).not.toThrow();
    const json = JSON.stringify({
      '@type': 'Question',
      text: 'top '.repeat(40),
      comment: Array(300).fill({ '@type': 'Comment', text: 'x' }),
    });
    expect(extractContent(shell(`<script type="application/ld+json">${json}</script>`)).text).toContain('top top');
    expect(
      extractContent(
        shell(`<script type="application/ld+json">{"@type":"Comment","text":"${'<'.repeat(200_000)}"}</script>`),
      ).html,
    ).not.toContain('<<');
  });
});
