// Which hostile inputs a reader is given, by the kind of thing it reads.
import type { InputKind } from './judge.js';
import { PAGES } from './pages.js';
import { type HostileText, TEXTS } from './texts.js';

/** Puts every hostile text into each of these. */
function within(places: Readonly<Record<string, (text: string) => string>>): HostileText[] {
  return Object.entries(places).flatMap(([place, fill]) =>
    TEXTS.map(({ name, make }) => ({ name: `${name} in ${place}`, make: (length: number) => fill(make(length)) })),
  );
}

const URLS = within({
  'a path': (text) => `https://example.com/${text}`,
  'a query': (text) => `https://example.com/p?${text}`,
  'a value of a query': (text) => `https://example.com/p?a=${text}&b=1`,
  'a fragment': (text) => `https://example.com/p#${text}`,
  'a host': (text) => `https://${text}.example.com/p`,
  'a user name': (text) => `https://${text}@example.com/p`,
  'a whole URL': (text) => text,
});

const HEADERS = within({
  'a header': (text) => text,
  'a parameter': (text) => `text/html; charset=${text}`,
  'a quoted parameter': (text) => `text/html; charset="${text}"`,
  'a name and value': (text) => `name=${text}; Path=/; Max-Age=9`,
  'a value': (text) => `max-age=${text}, public`,
});

const ROBOTS = within({
  'a robots.txt': (text) => text,
  'a path to keep out of': (text) => `User-agent: *\nDisallow: /${text}\n`,
  'a path to let in': (text) => `User-agent: *\nDisallow: /\nAllow: /*${text}$\n`,
  'an agent': (text) => `User-agent: ${text}\nDisallow: /\n`,
  'a sitemap': (text) => `Sitemap: ${text}\n`,
});

const SITEMAPS = within({
  'a list': (text) => text,
  'a location': (text) => `<urlset><url><loc>${text}</loc></url></urlset>`,
  locations: (text) => `<urlset><url><loc>/${text.slice(0, 50)}</loc></url>${text}</urlset>`,
  'a feed': (text) => `<rss><channel><item><link>${text}</link><pubDate>${text}</pubDate></item></channel></rss>`,
  'an entry of Atom': (text) => `<feed><entry><link href="${text}"/><updated>${text}</updated></entry></feed>`,
  'a declaration': (text) => `<?xml version="1.0" encoding="${text}"?><urlset></urlset>`,
  'a document type': (text) => `<!DOCTYPE urlset [${text}]><urlset></urlset>`,
});

const JSONS = within({
  'a string': (text) => JSON.stringify({ a: text }),
  'bad JSON': (text) => `{"a":${text}`,
});

export const INPUTS: Readonly<Record<InputKind, readonly HostileText[]>> = {
  page: PAGES,
  url: URLS,
  header: HEADERS,
  robots: ROBOTS,
  sitemap: SITEMAPS,
  text: TEXTS,
  json: JSONS,
};
