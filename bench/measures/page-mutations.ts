// Real pages, and what is done to them: a word in fifty changed, furniture swapped, a sentence of the content changed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { randomFrom } from './schedule-simulation.js';

export const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const FOLDERS = ['pages', 'articles/html', 'wcxb/html', 'segments/html'];

export interface RealPage {
  readonly name: string;
  readonly html: string;
}

/** The given pages, every `step`th; none where the folder is missing. */
export function* realPages(step = 1): Generator<RealPage> {
  let count = 0;
  for (const folder of FOLDERS.filter((name) => existsSync(DATA + name))) {
    for (const file of readdirSync(DATA + folder).sort()) {
      if (!file.endsWith('.html.gz') || count++ % step !== 0) continue;
      yield { name: `${folder}/${file}`, html: gunzipSync(readFileSync(`${DATA}${folder}/${file}`)).toString('utf8') };
    }
  }
}

const WORDS =
  `river stone cloud market engine purple winter doctor music silver table forest window letter garden bridge
  captain orange pepper rocket harbour lantern copper meadow violin compass ladder theatre kitchen sailor orchard castle
  station valley`.split(/\s+/);

/** Changes text between tags, outside of scripts and styles. */
function mapText(html: string, change: (text: string) => string): string {
  let isHidden = false;
  return html
    .split(/(<[^>]*>)/)
    .map((part) => {
      if (!part.startsWith('<')) return isHidden ? part : change(part);
      if (/^<(?:script|style|title|noscript|textarea)\b/i.test(part)) isHidden = true;
      if (/^<\/(?:script|style|title|noscript|textarea)\b/i.test(part)) isHidden = false;
      return part;
    })
    .join('');
}

/** One word in fifty is another. */
export function withOtherWords(html: string, seed: number): string {
  const random = randomFrom(seed);
  const word = () => WORDS[Math.floor(random() * WORDS.length)]!;
  return mapText(html, (text) => text.replace(/\p{L}{2,}/gu, (old) => (random() < 1 / 50 ? word() : old)));
}

/** Another navigation, another footer, another advert, another date, another token in every link. */
export function withOtherFurniture(html: string, seed: number): string {
  const random = randomFrom(seed);
  const word = () => WORDS[Math.floor(random() * WORDS.length)]!;
  const number = (below: number) => Math.floor(random() * below);
  const links = Array.from(
    { length: 8 },
    () => `<li><a href="/${word()}?sid=${number(1e9)}">${word()} ${word()}</a></li>`,
  );
  const top = `<nav class="nav"><ul>${links.join('')}</ul></nav><div class="ad banner"><a href="/ad?c=${number(1e9)}">Buy ${word()} now</a></div>`;
  const bottom = `<footer><p>${number(1e6)} visitors online</p><p>Generated 2026-11-${10 + number(20)} ${10 + number(13)}:${10 + number(49)}</p></footer>`;
  const tokened = html.replace(
    /(<a\b[^>]{0,2000}?\bhref=")([^"#?]{1,500})(")/gi,
    (_, before: string, url: string, after: string) =>
      random() < 0.5 ? `${before}${url}?token=${number(1e9)}${after}` : `${before}${url}${after}`,
  );
  return tokened.replace(/<body[^>]*>/i, (tag) => tag + top).replace(/<\/body>/i, (tag) => bottom + tag);
}

/** A sentence of the content is another; undefined when none can be found in the page's source. */
export function withOtherSentence(html: string, content: string, seed: number): string | undefined {
  const random = randomFrom(seed);
  const sentences = content.split(/\n|(?<=[.!?]) /).filter((one) => /^[\p{L}\p{N} ,;.]{30,200}$/u.test(one));
  for (let tries = 0; tries < 20 && sentences.length > 0; tries++) {
    const [sentence] = sentences.splice(Math.floor(random() * sentences.length), 1);
    const words = sentence!.split(' ');
    words[Math.floor(words.length / 2)] = 'entirely';
    let places = 0;
    // Only where it is shown: descriptions and scripts say the same.
    const changed = mapText(html, (text) => {
      if (!text.includes(sentence!)) return text;
      places++;
      return text.replace(sentence!, words.join(' '));
    });
    if (places === 1) return changed;
  }
  return undefined;
}
