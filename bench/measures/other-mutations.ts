// A second set of mutations of the given pages, made without a look at the rule that it judges: furniture of other kinds
// and in other languages, put amid the content too, and changes of sentences that people marked as main content: the
// labels of the data sets are the truth, not what we extract. Only words are changed, never white space alone.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { DATA, realPages, type RealPage } from './page-mutations.js';
import { randomFrom } from './schedule-simulation.js';

export interface MarkedPage extends RealPage {
  /** Texts that people marked as main content: paragraphs, or parts of them. */
  readonly marked: readonly string[];
}

/** Every `step`th page from `offset` on, of those with marked content. */
export function* markedPages(step: number, offset: number): Generator<MarkedPage> {
  const truth = truths();
  let count = 0;
  for (const { name, html } of realPages(1)) {
    const marked = truth.get(name);
    if (marked && count++ % step === offset % step) yield { name, html, marked };
  }
}

/** By page, what people marked as its main content. */
export function truths(): Map<string, string[]> {
  const all = new Map<string, string[]>();
  if (!existsSync(`${DATA}articles`)) return all;
  const json = (file: string) =>
    JSON.parse(readFileSync(DATA + file, 'utf8')) as Record<string, Record<string, unknown>>;
  for (const [id, { articleBody }] of Object.entries(json('articles/truth.json'))) {
    all.set(`articles/html/${id}.html.gz`, String(articleBody).split('\n'));
  }
  for (const [file, truth] of Object.entries(json('segments/truth.json'))) {
    const id = file.replace(/\.html(?:\.gz)?$/, '');
    all.set(`segments/html/${id}.html.gz`, (truth.with as string[]) ?? []);
  }
  for (const line of gunzipSync(readFileSync(`${DATA}wcxb/truth.jsonl.gz`))
    .toString()
    .split('\n')
    .filter(Boolean)) {
    const { id, main } = JSON.parse(line) as { id: string; main: string };
    all.set(`wcxb/html/${id}.html.gz`, main.split('\n'));
  }
  return all;
}

/** Tags, comments and the insides of what is not shown are left as they are. */
const PIECES =
  /(<!--[\s\S]*?-->|<(script|style|title|noscript|textarea|template|svg|iframe|select)\b[^>]*>[\s\S]*?<\/\2\s*>|<[^>]*>)/gi;

function textPieces(html: string): { readonly text: string; readonly at: number }[] {
  const pieces: { text: string; at: number }[] = [];
  let from = 0;
  for (const found of html.matchAll(PIECES)) {
    if (found.index > from) pieces.push({ text: html.slice(from, found.index), at: from });
    from = found.index + found[0].length;
  }
  if (from < html.length) pieces.push({ text: html.slice(from), at: from });
  return pieces;
}

export interface Place {
  readonly sentence: string;
  /** Where it stands in the source. */
  readonly at: number;
}

/** Marked sentences that stand exactly once in the shown source, in one piece of text. */
export function sentencesIn({ html, marked }: MarkedPage, random: () => number, most: number): Place[] {
  const pieces = textPieces(html);
  const whole = pieces.map(({ text }) => text).join('\u0000');
  const sentences = marked
    .flatMap((text) => text.split(/(?<=[.!?。！？])\s*(?=\p{Lu}|\p{Lo}|$)/u))
    .map((one) => one.trim())
    .filter((one) => isSentence(one) && !/[<>&]/.test(one));
  const places: Place[] = [];
  while (places.length < most && sentences.length > 0) {
    const [sentence] = sentences.splice(Math.floor(random() * sentences.length), 1) as [string];
    const first = whole.indexOf(sentence);
    if (first < 0 || whole.includes(sentence, first + 1)) continue;
    const piece = pieces.find(({ text }) => text.includes(sentence))!;
    places.push({ sentence, at: piece.at + piece.text.indexOf(sentence) });
  }
  return places;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function isSentence(text: string): boolean {
  if (text.length > 400) return false;
  return UNSPACED.test(text) ? text.length >= 14 : text.length >= 35 && text.split(/\s+/).length >= 7;
}

/** What is done to a sentence; undefined where it cannot be. */
export const CHANGES: Readonly<Record<string, (sentence: string, random: () => number) => string | undefined>> = {
  'a word is another': (sentence, random) =>
    atWord(sentence, random, () => (UNSPACED.test(sentence) ? '鯨' : 'Marzipan')),
  'a letter is another': (sentence, random) => {
    const at = Math.floor(random() * sentence.length);
    const letter = [...sentence.slice(at)].findIndex((one) => /\p{Ll}|\p{Lo}/u.test(one));
    if (letter < 0 || sentence.codePointAt(at + letter)! > 0xffff) return undefined;
    const old = sentence[at + letter]!;
    const other = /\p{Lo}/u.test(old) ? '鯨' : old === 'e' ? 'a' : 'e';
    return sentence.slice(0, at + letter) + other + sentence.slice(at + letter + 1);
  },
  'a number is another': (sentence) => {
    const found = /\d+/.exec(sentence);
    if (!found) return undefined;
    return (
      sentence.slice(0, found.index) + String(Number(found[0]) + 1) + sentence.slice(found.index + found[0].length)
    );
  },
  'a word more': (sentence, random) =>
    atWord(sentence, random, (word) => `${word} ${UNSPACED.test(sentence) ? '不' : 'not'}`),
  'two words in another order': (sentence) => {
    const words = sentence.split(' ');
    const isWord = (word: string | undefined): boolean => word !== undefined && /\S/.test(word);
    const at = words.findIndex(
      (word, index) => index > 0 && isWord(word) && isWord(words[index + 1]) && word !== words[index + 1],
    );
    if (at < 0) return undefined;
    [words[at], words[at + 1]] = [words[at + 1]!, words[at]!];
    return words.join(' ');
  },
  'the sentence is gone': () => '',
  'a sentence more': (sentence) =>
    `${sentence} ${UNSPACED.test(sentence) ? '这句话以前没有出现过。' : 'None of this had been said before, as far as anybody knew.'}`,
};

function atWord(sentence: string, random: () => number, change: (word: string) => string): string | undefined {
  const words = [...sentence.matchAll(UNSPACED.test(sentence) ? /\p{L}/gu : /\p{L}{3,}/gu)];
  const chosen = words[Math.floor(random() * words.length)];
  if (!chosen) return undefined;
  return sentence.slice(0, chosen.index) + change(chosen[0]) + sentence.slice(chosen.index + chosen[0].length);
}

export function changedAt(html: string, { sentence, at }: Place, other: string): string {
  return html.slice(0, at) + other + html.slice(at + sentence.length);
}

/** The same sentence in several languages: furniture speaks that of its page. */
interface Speech {
  readonly words: readonly string[];
  readonly views: (n: string) => string;
  readonly comments: (n: string) => string;
  readonly updated: (date: string) => string;
  readonly sponsored: string;
  readonly related: string;
  readonly cookies: string;
}

const SPEECHES: Readonly<Record<string, Speech>> = {
  en: {
    words: 'autumn barrel candle dragon feather granite hammer island jacket kettle lemon mirror needle oyster'.split(
      ' ',
    ),
    views: (n) => `${n} views`,
    comments: (n) => `Comments (${n})`,
    updated: (date) => `Last updated: ${date}`,
    sponsored: 'Sponsored',
    related: 'Most read today',
    cookies: 'We and our {n} partners use cookies to show you content that you may like.',
  },
  de: {
    words: 'Abend Brunnen Drache Eimer Feder Garten Hammer Insel Jacke Kessel Lampe Mantel Nadel Ofen'.split(' '),
    views: (n) => `${n} Mal gelesen`,
    comments: (n) => `${n} Kommentare`,
    updated: (date) => `Zuletzt aktualisiert am ${date}`,
    sponsored: 'Anzeige',
    related: 'Meistgelesen',
    cookies: 'Wir und unsere {n} Partner verwenden Cookies, um Ihnen passende Inhalte zu zeigen.',
  },
  fr: {
    words: 'automne bougie chapeau dragon fontaine granit jardin lampe miroir navire orange panier rideau sable'.split(
      ' ',
    ),
    views: (n) => `Lu ${n} fois`,
    comments: (n) => `${n} commentaires`,
    updated: (date) => `Mis à jour le ${date}`,
    sponsored: 'Publicité',
    related: 'Les plus lus',
    cookies: 'Nos {n} partenaires et nous utilisons des cookies afin de vous montrer des contenus adaptés.',
  },
  es: {
    words: 'abrigo barco campana espejo fuente granito jardín lámpara martillo naranja otoño puente silla vela'.split(
      ' ',
    ),
    views: (n) => `${n} visitas`,
    comments: (n) => `${n} comentarios`,
    updated: (date) => `Actualizado el ${date}`,
    sponsored: 'Publicidad',
    related: 'Lo más leído',
    cookies: 'Nosotros y nuestros {n} socios usamos cookies para mostrarle contenidos adecuados.',
  },
  it: {
    words: 'autunno barca candela drago fontana giardino isola lampada martello nave ombra ponte specchio vela'.split(
      ' ',
    ),
    views: (n) => `${n} visualizzazioni`,
    comments: (n) => `${n} commenti`,
    updated: (date) => `Aggiornato il ${date}`,
    sponsored: 'Pubblicità',
    related: 'I più letti',
    cookies: 'Noi e i nostri {n} partner usiamo i cookie per mostrarti contenuti adatti a te.',
  },
  ru: {
    words: 'берег вечер город дракон зеркало камень лампа молоток остров парус река свеча фонтан яблоко'.split(' '),
    views: (n) => `Просмотров: ${n}`,
    comments: (n) => `${n} комментариев`,
    updated: (date) => `Обновлено ${date}`,
    sponsored: 'Реклама',
    related: 'Самое читаемое',
    cookies: 'Мы и наши {n} партнёров используем файлы cookie, чтобы показывать подходящие материалы.',
  },
  zh: {
    words: '秋天 水桶 蜡烛 羽毛 花岗岩 锤子 岛屿 夹克 水壶 柠檬 镜子 花园 桥梁 风帆'.split(' '),
    views: (n) => `阅读 ${n}`,
    comments: (n) => `评论(${n})`,
    updated: (date) => `更新时间：${date}`,
    sponsored: '广告',
    related: '热门文章',
    cookies: '我们和 {n} 家合作伙伴使用 Cookie，为您展示合适的内容。',
  },
  ja: {
    words: '秋 桶 蝋燭 羽根 花崗岩 金槌 島 上着 薬缶 檸檬 鏡 庭 橋 帆'.split(' '),
    views: (n) => `閲覧数：${n}`,
    comments: (n) => `コメント ${n}件`,
    updated: (date) => `最終更新：${date}`,
    sponsored: '広告',
    related: '人気記事',
    cookies: '当社と {n} 社のパートナーは、適切な内容を表示するために Cookie を使用します。',
  },
};

const LANGUAGES = Object.keys(SPEECHES);
const LOCALES: Readonly<Record<string, string>> = { zh: 'zh-CN', ja: 'ja-JP', en: 'en-GB' };

/** What the page says of its language; now and then another, so that few pages do not decide. */
function languageOf(html: string, random: () => number): string {
  const said = /<html\b[^>]{0,500}?\blang\s*=\s*["']?([a-z]{2})/i.exec(html)?.[1]?.toLowerCase();
  return said !== undefined && said in SPEECHES && random() < 0.6
    ? said
    : LANGUAGES[Math.floor(random() * LANGUAGES.length)]!;
}

interface Pen extends Speech {
  readonly language: string;
  readonly random: () => number;
  /** So many words of the language. */
  say(count: number): string;
  number(below: number): number;
  date(style: 'long' | 'short' | 'medium'): string;
  ago(): string;
}

function penOf(language: string, random: () => number): Pen {
  const speech = SPEECHES[language]!;
  const locale = LOCALES[language] ?? language;
  const number = (below: number) => Math.floor(random() * below);
  const joint = language === 'zh' || language === 'ja' ? '' : ' ';
  return {
    ...speech,
    language,
    random,
    number,
    say: (count) => Array.from({ length: count }, () => speech.words[number(speech.words.length)]).join(joint),
    date: (style) =>
      new Intl.DateTimeFormat(locale, {
        dateStyle: style,
        ...(style === 'medium' ? { timeStyle: 'short' as const } : {}),
      }).format(1.7e12 + number(1e11)),
    ago: () =>
      new Intl.RelativeTimeFormat(locale).format(
        -1 - number(40),
        (['minute', 'hour', 'day', 'week', 'month'] as const)[number(5)]!,
      ),
  };
}

/** Furniture: what a server may write differently at each request. `spec` marks the kinds that the spec names. */
export interface Furniture {
  readonly isOfSpec: boolean;
  readonly where: 'amid' | 'top' | 'bottom' | 'source';
  readonly make: (pen: Pen, html: string) => string;
}

const list = (count: number, item: () => string) => Array.from({ length: count }, item).join('');

export const FURNITURE: Readonly<Record<string, Furniture>> = {
  'a date amid the text': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) => `<p class="meta">${pen.updated(pen.date(pen.random() < 0.5 ? 'long' : 'medium'))}</p>`,
  },
  'a date in <time>': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) => `<div><time datetime="2026-01-0${1 + pen.number(9)}">${pen.date('long')}</time></div>`,
  },
  'a short date': { isOfSpec: true, where: 'amid', make: (pen) => `<div>${pen.date('short')}</div>` },
  'how long ago': { isOfSpec: true, where: 'amid', make: (pen) => `<div class="when">${pen.ago()}</div>` },
  'a counter of readers': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) => `<div class="counter">${pen.views(String(1 + pen.number(99_999)))}</div>`,
  },
  'a counter with groups': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) =>
      `<p>${pen.views(new Intl.NumberFormat(LOCALES[pen.language] ?? pen.language).format(1_000 + pen.number(9_999_999)))}</p>`,
  },
  'a counter of comments': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) => `<div>${pen.comments(String(1 + pen.number(500)))}</div>`,
  },
  'an advert amid the text': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) =>
      `<div class="ad-slot-${pen.number(9)}"><small>${pen.sponsored}</small><p>${pen.say(9)}. ${pen.say(8)}.</p></div>`,
  },
  'an advert by its id': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) => `<div id="div-gpt-ad-${pen.number(1e9)}-0"><a href="/c?${pen.number(1e9)}">${pen.say(8)}</a></div>`,
  },
  'an advert by its role': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) => `<section aria-label="Advertisement"><h4>${pen.say(3)}</h4><p>${pen.say(10)}.</p></section>`,
  },
  'Google’s adverts': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) =>
      `<ins class="adsbygoogle" data-ad-client="ca-pub-1" data-ad-slot="${pen.number(1e9)}"><span>${pen.say(9)}</span></ins>`,
  },
  'adverts of a network': {
    isOfSpec: true,
    where: 'bottom',
    make: (pen) =>
      `<div id="taboola-below-article-thumbnails" class="trc_related_container">${list(4, () => `<div class="videoCube"><a href="https://net.example/${pen.number(1e9)}" rel="sponsored nofollow"><span class="video-title">${pen.say(8)}</span></a></div>`)}</div>`,
  },
  'tokens in links and forms': {
    isOfSpec: true,
    where: 'source',
    make: (pen, html) =>
      html
        .replace(
          /(<a\b[^>]{0,1000}?\bhref=["'])([^"'?#]{1,500})/gi,
          (_, before: string, url: string) => `${before}${url};jsessionid=${pen.number(1e9)}`,
        )
        .replace(
          /(<img\b[^>]{0,1000}?\bsrc=["'])([^"'?#]{1,500})/gi,
          (_, before: string, url: string) => `${before}${url}?v=${pen.number(1e9)}`,
        )
        .replace(
          /<form\b[^>]{0,1000}>/gi,
          (tag) => `${tag}<input type="hidden" name="csrf" value="${pen.number(1e9)}">`,
        ),
  },
  'scripts, comments, names of classes': {
    isOfSpec: false,
    where: 'source',
    make: (pen, html) =>
      html
        .replace(
          /<\/head>/i,
          (tag) =>
            `<script nonce="${pen.number(1e9)}">window.t=${pen.number(1e9)}</script><meta name="t" content="${pen.number(1e9)}">${tag}`,
        )
        .replace(/<p\b(?![^>]*class)/gi, (tag) => `${tag} class="p_${pen.number(1e9).toString(36)}"`)
        .replace(/<\/p>/gi, (tag) => `${tag}<!-- ${pen.number(1e9)} -->`),
  },
  'white space': {
    isOfSpec: false,
    where: 'source',
    make: (pen, html) =>
      html.replace(/<(?:p|li|h[1-6]|td)\b[^>]{0,1000}>/gi, (tag) => `${tag}${'\n'.repeat(pen.number(3))}  `),
  },
  navigation: {
    isOfSpec: false,
    where: 'top',
    make: (pen) =>
      `<div class="main-menu" role="navigation"><ul>${list(9, () => `<li><a href="/${pen.number(1e6)}">${pen.say(2)}</a></li>`)}</ul></div>`,
  },
  'a consent banner': {
    isOfSpec: false,
    where: 'top',
    make: (pen) =>
      `<div id="cookie-notice" role="dialog"><p>${pen.cookies.replace('{n}', String(pen.number(900)))}</p></div>`,
  },
  'a list of what others read': {
    isOfSpec: false,
    where: 'bottom',
    make: (pen) =>
      `<div class="related-articles"><h3>${pen.related}</h3><ul>${list(5, () => `<li><a href="/${pen.number(1e6)}">${pen.say(7)}</a></li>`)}</ul></div>`,
  },
  'such a list without a name': {
    isOfSpec: false,
    where: 'bottom',
    make: (pen) =>
      `<div class="box-${pen.number(9)}"><h3>${pen.related}</h3><ol>${list(5, () => `<li><a href="/${pen.number(1e6)}">${pen.say(7)}</a></li>`)}</ol></div>`,
  },
  'counters of shares': {
    isOfSpec: true,
    where: 'amid',
    make: (pen) =>
      `<ul class="share-buttons"><li><a href="#">Facebook ${pen.number(900)}</a></li><li><a href="#">X ${pen.number(900)}</a></li></ul>`,
  },
  'a footer': {
    isOfSpec: false,
    where: 'bottom',
    make: (pen) => `<footer><p>© ${2020 + pen.number(20)} ${pen.say(3)}. ${pen.say(9)}.</p></footer>`,
  },
  'how long the page took': {
    isOfSpec: false,
    where: 'bottom',
    make: (pen) => `<div>Page generated in 0.${100 + pen.number(899)} seconds</div>`,
  },
};

/** The page with one piece of furniture; twice with other seeds is twice the same page. */
export function furnished(page: MarkedPage, kind: string, seed: number, amid: Place | undefined): string | undefined {
  const { html } = page;
  const random = randomFrom(seed);
  const furniture = FURNITURE[kind]!;
  // The language is the page's, whatever the seed.
  const language = languageOf(html, randomFrom(html.length));
  const made = furniture.make(penOf(language, random), html);
  switch (furniture.where) {
    case 'source':
      return made;
    case 'top':
      return inserted(html, /<body[^>]*>/i.exec(html), made);
    case 'bottom': {
      const end = html.toLowerCase().lastIndexOf('</body');
      return end < 0 ? undefined : html.slice(0, end) + made + html.slice(end);
    }
    case 'amid': {
      if (!amid) return undefined;
      const rest = html.slice(amid.at);
      const end = /<\/p\s*>/i.exec(rest);
      return end ? inserted(html, Object.assign(end, { index: end.index + amid.at }), made) : undefined;
    }
    default:
      return furniture.where satisfies never;
  }
}

function inserted(html: string, after: RegExpExecArray | null, text: string): string | undefined {
  if (!after) return undefined;
  const at = after.index + after[0].length;
  return html.slice(0, at) + text + html.slice(at);
}
