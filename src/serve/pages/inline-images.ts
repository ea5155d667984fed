// Images inside a page's text, as `data:` URLs: they cost a model much and say nothing.
// Promise: linear in the text, whatever it is. A pattern would start anew at each of many images that never end.

const START = '![';
const DATA = '](data:image/';
const PLACEHOLDER = '](<Base64-Image-Removed>';
const END_OF_TEXT = /[\]\n]/g;
const END_OF_ADDRESS = /[)\s]/g;

/** Markdown with the alternative texts of such images, and without their bytes. */
export function withoutInlineImages(markdown: string): string {
  const parts: string[] = [];
  let kept = 0;
  for (let open = markdown.indexOf(START); open >= 0;) {
    const close = placeOf(END_OF_TEXT, markdown, open + START.length);
    if (close < 0) break;
    let next = close;
    if (markdown.startsWith(DATA, close)) {
      next = placeOf(END_OF_ADDRESS, markdown, close + DATA.length);
      // Nothing that follows ends, either.
      if (next < 0) break;
      if (markdown[next] === ')') {
        parts.push(markdown.slice(kept, close), PLACEHOLDER);
        kept = next;
      }
    }
    open = markdown.indexOf(START, next);
  }
  return parts.length === 0 ? markdown : parts.join('') + markdown.slice(kept);
}

function placeOf(end: RegExp, text: string, from: number): number {
  end.lastIndex = from;
  return end.exec(text)?.index ?? -1;
}
