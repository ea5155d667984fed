import { describe, expect, it } from 'vitest';
import { extractContent } from '../../crawl/page/extraction.js';

const shop = (line: string): string => `<meta property="og:type" content="product"><title>Lantern</title>
  <nav><a href="/a">Lamps</a> <a href="/b">Ropes</a></nav><main class="product"><h1>Lantern</h1><span class="price">$48</span>
  <div>${line}</div><button>Add to cart</button><div class="product-description"><p>A lantern of brass that burns for thirty
  hours on half a litre of oil, and that no wind on an open deck has blown out yet.</p></div></main><footer>©</footer>`;

describe('lines for the case that a script fails', () => {
  it.each([
    'Oops! Something went wrong. Please try again.',
    'Couldn’t load pickup availability. Please refresh.',
    'Es ist ein Fehler aufgetreten. Bitte versuche es erneut.',
    'Une erreur est survenue. Veuillez réessayer.',
  ])('are no content: %s', (line) => {
    const { text } = extractContent(shop(line), {
      url: 'https://shop.example/products/lantern',
      favor: 'recall',
    });
    expect(text).toContain('brass');
    expect(text).not.toContain(line);
  });

  it.each(['X.X stars as of ---', 'From {{ product.price | money }}', '[object Object]'])(
    'are no content where a value was never filled in: %s',
    (line) => {
      const { text } = extractContent(shop(line), { url: 'https://shop.example/products/lantern', favor: 'recall' });
      expect(text).toContain('brass');
      expect(text).not.toContain(line);
    },
  );

  it('are kept where a text says more', () => {
    const line = 'Nothing went wrong in thirty years, and an error occurred only once, on the first of May.';
    expect(
      extractContent(shop(line), { url: 'https://shop.example/products/lantern', favor: 'recall' }).text,
    ).toContain(line);
  });
});
