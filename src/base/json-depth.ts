// How deep JSON text nests, before it is parsed: what nests deeper than a stack can follow ends a serialiser later.
// One pass over the characters; brackets within strings do not count.

const QUOTE = 34;
const BACKSLASH = 92;
const ARRAY = 91;
const ARRAY_END = 93;
const OBJECT = 123;
const OBJECT_END = 125;

export function nestsDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === ARRAY || code === OBJECT) {
      if (++depth > limit) return true;
    } else if (code === ARRAY_END || code === OBJECT_END) depth--;
  }
  return false;
}
