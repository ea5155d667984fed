// Which words of a question are about its subject, for whatever ranks by a query.
// Promise: linear in the words; where none is telling, all of them are.

/** Words of questions that say nothing about their subject. */
const COMMON = new Set(
  (
    'the and for are was were with what which who how why when where does did can could should would will this that ' +
    'these those from into about you your have has had not all any some there their its our'
  ).split(' '),
);

/** Scripts without spaces between words: a word may begin anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Whether the word is of a script that writes words without spaces between them. */
export const isUnspaced = (word: string): boolean => UNSPACED.test(word);

/** The words that tell something, in their order; words are given in lower case. */
export function tellingWords(words: readonly string[]): readonly string[] {
  const telling = words.filter(
    (word) => !COMMON.has(word) && (word.length > 2 || /\p{N}/u.test(word) || isUnspaced(word)),
  );
  return telling.length > 0 ? telling : words;
}
