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
    ['a list of headlines beside the article', (text: string) => `<ul><li><a href="/x">${text}</a></li></ul>`],
  ])('does not have adverts and lists beside an article: %s', (_, furniture) => {
    const page = (text: string) => `<main>${prose}${furniture(text)}${prose}</main>`;
    expect(compared(page('Harbour festival postponed until the end of next week'))).toBe(
      compared(page('Ten ways to cook a perfect egg in less than a minute')),
    );
  });

  it('has questions that open by a click', () => {
    expect(compared(`<main>${prose}<h3><button>Where do orcas sleep?</button></h3></main>`)).toContain('sleep');
  });

  it('has sentences in elements whose names a tool made', () => {
    const page = (text: string) => `<main>${prose}<div class="p_3ad9f hOtKl"><p>${text}</p></div></main>`;
    expect(compared(page('Harbour festival postponed until the end of next week'))).toContain('Harbour festival');
  });
});
