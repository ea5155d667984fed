// Detects session ids in URLs: each visit gets a new one, so each link is a new URL of an old page.
// Promise: known names, and short names only with a random-looking value; `sid=12345` is an article.

const PATH_SESSION = /;(?:jsessionid|phpsessid|sessionid|sid)=[\w.!-]+|\/\(S\([a-z0-9]{24}\)\)/i;
const CERTAIN =
  /(?:^|[&;])(?:jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|session_?id|sess_?id|oscsid|zenid|cftoken)=[\w.%!~-]{6,}/i;
const SHORT_NAME = /(?:^|[&;])(?:sid|s|session|sess)=([\w-]{6,128})(?=$|[&;])/i;

export function hasSessionId(path: string, query: string): boolean {
  if (path.length > 10 && PATH_SESSION.test(path)) return true;
  if (query === '') return false;
  if (CERTAIN.test(query)) return true;
  const value = SHORT_NAME.exec(query)?.[1];
  return value !== undefined && looksRandom(value);
}

/** Hexadecimal with letters and digits, or a long mixture. */
function looksRandom(value: string): boolean {
  const isMixed = /\d/.test(value) && /[a-z]/i.test(value);
  return isMixed && (/^[0-9a-f]+$/i.test(value) || value.length >= 16);
}
