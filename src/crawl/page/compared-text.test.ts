import { describe, expect, it } from 'vitest';
import { viewPage } from './extraction.js';
import { comparedText } from '../../extract/page/compared-text.js';

const compared = (body: string) =>
  comparedText(viewPage(`<html><body>${body}</body></html>`, { url: 'https://a.example/' }));
const listOf = (headline: string) =>
  `<main><h1>All articles</h1><ul><li><a href="/1">${headline}</a></li><li><a href="/2">Whales were seen near the harbour again</a></li></ul></main>`;

describe('the text by which versions of a page are compared', () => {
  it('has the headlines of a page that lists articles', () => {
    expect(compared(listOf('Harbour festival postponed indefinitely'))).not.toBe(
      compared(listOf('Harbour festival entirely indefinitely')),
    );
  });

  it('has headlines in cards that are laid out side by side', () => {
    const page = (text: string) =>
      `<main><p>${'Orcas hunt in pods, and share what they catch. '.repeat(5)}</p><ul><li><article class="card--side-by-side"><a href="/x"><h2>${text}</h2></a></article></ul></main>`;
    expect(compared(page('Harbour festival postponed indefinitely'))).not.toBe(
      compared(page('Harbour festival entirely indefinitely')),
    );
  });

  it('does not have the short links of a menu that nothing calls a menu', () => {
    const page = (items: string) =>
      `<div>${items}</div><main><p>Orcas hunt in pods, and share what they catch.</p></main>`;
    expect(compared(page('<a href="/">Home</a> <a href="/a">About us</a>'))).toBe(
      compared(page('<a href="/">Start</a> <a href="/c">Contact us</a>')),
    );
  });

  it('does not have what stands beside the article', () => {
    const page = (text: string) =>
      `<main><p>${'Orcas hunt in pods, and share what they catch. '.repeat(5)}</p></main><aside><a href="/x">${text}</a></aside>`;
    expect(compared(page('Harbour festival postponed indefinitely'))).toBe(
      compared(page('Ten ways to cook a perfect egg today')),
    );
  });

  const prose = `<p>${'Orcas hunt in pods, and share what they catch. '.repeat(40)}</p>`;

  it.each([
    ['a label', (text: string) => `<section aria-label="Werbung"><p>${text}</p></section>`],
    ['the name of a network', (text: string) => `<ins class="adsbygoogle"><span>${text}</span></ins>`],
    ['a list of what is related', (text: string) => `<div class="related"><ul><li><a href="/x">${text}</a></ul></div>`],
  ])('does not have adverts and lists beside an article: %s', (_, furniture) => {
    const page = (text: string) => `<main>${prose}${furniture(text)}${prose}</main>`;
    expect(compared(page('Harbour festival postponed until the end of next week'))).toBe(
      compared(page('Ten ways to cook a perfect egg in less than a minute')),
    );
  });

  it.each([
    ['beside its element', (text: string) => `<main>${prose}</main><div><a href="/x">${text}</a></div>`],
    ['beside its paragraphs', (text: string) => `${prose}${prose}<ol><li><a href="/x">${text}</a></ol>`],
  ])('does not have lists of headlines without a name: %s', (_, page) => {
    expect(compared(page('Harbour festival postponed until the end of next week'))).toBe(
      compared(page('Ten ways to cook a perfect egg in less than a minute')),
    );
  });

  const sentence = 'Harbour festival postponed until the end of next week';
  it.each([
    ['a link amid the article', `<p><a href="/x">${sentence}</a></p>`],
    ['a list of links amid the article', `<ul><li><a href="/x">${sentence}</a><li><a href="/y">Another</a></ul>`],
    [
      'a card that is a link',
      `<div class="nav-card"><a href="/x"><div>${sentence} in the old town, say officials.</div></a></div>`,
    ],
    ['a link within the page, in a column', `<div class="rightcol"><a href="#x"><div>${sentence}</div></a></div>`],
    ['a short sentence aside', '<div class="sidebar"><p>The Harbour festival is postponed.</p></div>'],
    ['a heading whose name is its text', `<h3 id="read-more-ads"><a href="/x">${sentence}</a></h3>`],
    ['a closed part', `<div class="tab-dropdown hidden" aria-hidden="true"><p>${sentence} once more.</p></div>`],
    [
      'a card of a post about what adverts are called, too',
      `<article class="post tag-gpt-5 tag-ads category-privacy"><p>The ${sentence} in the old town.</p></article>`,
    ],
    [
      'an offer of the site itself',
      `<div class="cta" id="bundles-promo"><p>The ${sentence} in the old town.</p></div>`,
    ],
    [
      'a short line in what a content system calls a field',
      `<div class="field field--name-title field__item"><p>The Harbour festival</p></div>`,
    ],
    ['a line aside', '<div class="rightcol"><div>The Harbour festival has 164 stages</div></div>'],
    ['a headline in a closed part', `<ul hidden><li><a href="#x">Where the Harbour festival takes place</a></li></ul>`],
    ['three long words', '<ul><li><a href="/x">Harbour festival Dienstleistungsangebotsverzeichnis</a></ul>'],
    [
      'a headline in what fills an item of a list',
      `<ul><li><div class="teaser"><a href="/x">${sentence}</a></div></li></ul>`,
    ],
    [
      'a sentence aside that is mostly a link',
      `<div class="dropdown"><p>More here: <a href="/x">${sentence}</a> and so on</p></div>`,
    ],
  ])('has what content says in the place of furniture: %s', (_, part) => {
    expect(compared(`<main>${prose}${part}${prose}</main>`)).toContain('Harbour festival');
  });

  it('has a list that is most of what a page says, whatever it is called', () => {
    const items = Array.from(
      { length: 20 },
      (_, n) => `<h2><a href="/${n}">Camera number ${n} with a lens and a bag</a></h2>`,
    );
    const page = `<main><p>Cameras of all makers, at the best prices in town.</p><div class="right-side">${items.join('')}</div></main>`;
    expect(compared(page)).toContain('Camera number 7');
  });

  it('has the headlines of the main part of a page whose only sentences are in a large banner', () => {
    const banner = `<div>${'We and our partners use cookies to show you what you may like. '.repeat(20)}</div>`;
    const cards = Array.from(
      { length: 9 },
      (_, n) => `<div><a href="/${n}">Casserole number ${n} from long ago</a></div>`,
    );
    expect(compared(`${banner}<main>${cards.join('')}</main>`)).toContain('Casserole number 7');
  });

  it('has all lists of the main part of a page that lists articles', () => {
    const list = (n: number, what: string) =>
      Array.from(
        { length: n },
        (_, at) => `<a href="/${what}${at}"><span>${what} number ${at} from long ago</span></a>`,
      );
    const page = `<main><section>${list(3, 'A casserole').join('')}</section><section>${list(30, 'A recipe').join('')}</section></main>`;
    expect(compared(page)).toContain('A casserole number 2');
  });

  it('has questions that open by a click', () => {
    expect(compared(`<main>${prose}<h3><button>Where do orcas sleep?</button></h3></main>`)).toContain('sleep');
  });

  it('has sentences in elements whose names a tool made', () => {
    const page = (text: string) => `<main>${prose}<div class="p_3ad9f hOtKl"><p>${text}</p></div></main>`;
    expect(compared(page('Harbour festival postponed until the end of next week'))).toContain('Harbour festival');
  });
});
