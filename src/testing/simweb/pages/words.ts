// The vocabulary of the synthetic web: paths, titles and running text are made from these words.
// Paragraphs are made once per web and reused, because pages must cost microseconds.
import { createRolls, hash32, SALT } from './chance.js';

export const SECTIONS = [
  ...['travel', 'food', 'science', 'history', 'music', 'garden', 'sport', 'books'],
  ...['nature', 'city', 'health', 'craft', 'film', 'money', 'weather', 'sea'],
];

export const ADJECTIVES = [
  ...['quiet', 'bright', 'early', 'hidden', 'narrow', 'patient', 'golden', 'distant', 'gentle', 'heavy', 'curious'],
  ...['northern', 'simple', 'silver', 'warm', 'rapid', 'ancient', 'calm', 'deep', 'frozen', 'green', 'honest', 'large'],
  ...['little', 'lonely', 'modern', 'open', 'plain', 'rare', 'smooth', 'tall', 'wild'],
];

export const NOUNS = [
  ...['harbor', 'orchard', 'bridge', 'island', 'market', 'valley', 'window', 'letter', 'engine', 'lantern', 'river'],
  ...['castle', 'kitchen', 'meadow', 'mirror', 'compass', 'blanket', 'station', 'village', 'whale', 'winter', 'garden'],
  ...['ladder', 'mountain', 'notebook', 'painter', 'railway', 'sailor', 'teacher', 'theatre', 'forest', 'copper'],
];

const FILLERS = [
  ...['and', 'but', 'while', 'because', 'near', 'under', 'before', 'after', 'without', 'across', 'the', 'a', 'this'],
  ...['every', 'another', 'some', 'of', 'to', 'in', 'on', 'with', 'from', 'for', 'was', 'is', 'had', 'has', 'made'],
  ...['found', 'carried', 'kept', 'told', 'saw', 'brought', 'followed', 'left', 'built', 'opened', 'people', 'years'],
  ...['water', 'morning', 'evening', 'street', 'house', 'light', 'story', 'day', 'work', 'place', 'again', 'often'],
];

// Character references and raw letters beyond ASCII, as real pages have them.
const SPICE = ['caf&eacute;', 'salt &amp; pepper', 'it&#8217;s', '&ldquo;slowly&rdquo;', '3&nbsp;km', '&lt;1 day'];
const RAW_SPICE = ['naïve', 'Zürich', 'Łódź', 'el niño', '東京', 'Москва', '— at last —', '€ 12'];

/** UTF-8 bytes as a string of one character per byte: such strings join fast and become bytes by `latin1`. */
export const asByteString = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const pick = <T>(list: readonly T[], roll: number): T => list[roll % list.length] as T;

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function sentence(roll: () => number): string {
  const words: string[] = [];
  for (let left = 6 + (roll() % 14); left > 0; left--) {
    const kind = roll() % 40;
    if (kind < 8) words.push(pick(ADJECTIVES, roll()), pick(NOUNS, roll()));
    else if (kind < 14) words.push(pick(NOUNS, roll()));
    else if (kind === 14) words.push(pick(SPICE, roll()));
    else if (kind === 15) words.push(pick(RAW_SPICE, roll()));
    else words.push(pick(FILLERS, roll()));
  }
  return `${capital(words.join(' '))}.`;
}

// Enough that two pages rarely share their text, few enough to be made in some 10 ms and to stay in the CPU's cache.
const PARAGRAPHS = 1024;

/** The paragraphs of a web, as byte strings of 200 to 900 bytes of valid HTML text. */
export function createParagraphs(seed: number): readonly string[] {
  const roll = createRolls(hash32(seed, 0, 0, SALT.text));
  return Array.from({ length: PARAGRAPHS }, () => {
    const sentences = Array.from({ length: 3 + (roll() % 5) }, () => sentence(roll));
    return asByteString(sentences.join(' '));
  });
}

/** Plain ASCII text that may be cut at any byte, to bring a page to its exact size. */
export function createFiller(seed: number, bytes: number): string {
  const roll = createRolls(hash32(seed, 1, 0, SALT.text));
  let text = 'And';
  while (text.length < bytes) text += ` ${pick(FILLERS, roll())}`;
  return text;
}
