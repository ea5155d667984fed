// What scripts of shops and forms write into a page for the case that they fail: "Something went wrong. Please try again.",
// and what they have not filled in: "X.X stars", "{{ product.price }}".
// Promise: only a line that says nothing else; articles and manuals, which write about failures, keep them.
import { blockText } from '../page/block-text.js';
import { NEVER } from '../posts/posts.js';
import type { Segments } from '../page/segment.js';
import { CHARS, FIRST_NODE, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

const MAX_WORDS = 25;
const MAX_CHARS = 200;
/** Below this a block is out of the question. */
const HOPELESS = -4;
const START = '(?:(?:oops|sorry|error|uh oh|hmm|hoppla|ups|désolé|lo sentimos|ops|ошибка)[!,.:…]{0,3} )?';
const WHAT = [
  'something went wrong',
  '(?:there (?:was|has been) (?:an error|a problem|an issue)|an (?:unknown |unexpected )?error (?:has )?occurr?ed)',
  "(?:we )?(?:couldn['’]t|could not|can['’]t|cannot|were unable to|unable to) (?:load|add|calculate|submit|show|retrieve)",
  '(?:etwas ist|da ist etwas) schiefgelaufen|es ist ein (?:unerwarteter )?fehler aufgetreten',
  "une erreur (?:est survenue|s['’]est produite)",
  '(?:se ha producido|ha ocurrido|se produjo|ocurrió) un error|algo (?:salió|ha salido) mal',
  'ocorreu um erro|algo deu errado',
  '(?:si è verificato un errore|qualcosa è andato storto)',
  'er is (?:iets misgegaan|een fout opgetreten)',
  'wystąpił błąd|coś poszło nie tak',
  'произошла ошибка|что-то пошло не так',
].join('|');
/** The failure, what it was about, and what to do now. */
const FAILURE = new RegExp(`^${START}(?:${WHAT})[^.!?]{0,60}(?:[.!] [^.!?]{1,60}){0,2}[.!]?$`, 'iu');
/** A longer line says so as well. */
const BRIEF_WORDS = 6;
const AGAIN =
  /again|refresh|reload|later|contact|erneut|später|réessay|plus tard|intent|tent[ae]|riprova|probeer|spróbuj|попробуйте|повторите/iu;
/** Stands for a value that a script puts there; a page's own text has it in code. */
const PLACEHOLDER = /(?:^|\s)X\.XX?(?=\s|$)|\{\{\s?[\w.$[\]| ]{1,60}\s?\}\}|\[object Object\]/;
const PLACEHOLDER_WORDS = 8;
const CHINESE_JAPANESE = /^(?:出错了|发生错误|抱歉，出错|エラーが発生しました|問題が発生しました).{0,30}$/u;

/** Lowers such lines; `prose` is how sure the page is an article or documentation. */
export function leaveFailures(segments: Segments, prose: number, logits: Float32Array): void {
  if (prose >= 0.5) return;
  const { blocks, count } = segments;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (logits[b]! <= HOPELESS || blocks[at + WORDS]! > MAX_WORDS || blocks[at + CHARS]! > MAX_CHARS) continue;
    const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!);
    const isFailure = FAILURE.test(text) && (blocks[at + WORDS]! <= BRIEF_WORDS || AGAIN.test(text));
    const isUnfilled = blocks[at + WORDS]! <= PLACEHOLDER_WORDS && PLACEHOLDER.test(text);
    if (isFailure || isUnfilled || CHINESE_JAPANESE.test(text)) logits[b] = NEVER;
  }
}
