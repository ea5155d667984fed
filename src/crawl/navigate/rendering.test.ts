import { describe, expect, it } from 'vitest';
import { createRenderingMemory, needsScripts } from './rendering.js';

const needs = (html: string, type = 'text/html') => needsScripts(Buffer.from(html), 'https://a.test/', type);
const words = 'Some sentence that a reader would read with interest. '.repeat(20);

describe('whether a page needs scripts', () => {
  it('is yes for the empty shell of an application', () => {
    expect(needs('<title>App</title><div id="root"></div><script src="/app.js"></script>')).toBe(true);
    expect(needs(`<div id=app></div><p>${'Loading the shop. '.repeat(6)}</p><script>start()</script>`)).toBe(true);
    expect(
      needs(`<noscript>Please enable JavaScript</noscript><footer>${'Imprint '.repeat(20)}</footer><script></script>`),
    ).toBe(true);
  });

  it('is no for pages that have their text, without scripts, or are no HTML', () => {
    expect(needs(`<p>${words}</p><script src="/analytics.js"></script>`)).toBe(false);
    expect(needs(`<div id="root"><p>${words}</p></div><script src="/hydrate.js"></script>`)).toBe(false);
    expect(needs('<p>Short.</p>')).toBe(false);
    expect(needs('<p>Short.</p><script type="application/ld+json">{}</script>')).toBe(false);
    expect(needs('{"a": "<script>"}', 'application/json')).toBe(false);
  });

  it('is remembered by site and looked at again now and then', () => {
    const memory = createRenderingMemory();
    for (let page = 0; page < 3; page++) {
      expect(memory.expected(`https://a.test/${page}`)).toBeUndefined();
      memory.learn(`https://a.test/${page}`, 'browser');
    }
    const expectations = Array.from({ length: 40 }, (_, page) => memory.expected(`https://www.a.test/${page}`));
    expect(expectations.filter((one) => one === undefined).length).toBe(2);
    expect(memory.expected('https://b.test/')).toBeUndefined();
    memory.learn('https://a.test/', 'static');
    expect(memory.expected('https://a.test/')).toBeUndefined();
  });
});
