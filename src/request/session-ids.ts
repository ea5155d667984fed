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

/** Longer addresses are data in disguise. */
const MAX_CLEANED = 4_096;
const PATH_NAMED = /;(?:jsessionid|phpsessid)=[\w.!-]{6,200}/i;
/** Names that mean nothing else; `sid` only with the 32 digits that forums make it of. */
const NAMED = /^(?:(?:jsessionid|phpsessid|aspsessionid\w{0,20}|oscsid|zenid)=[\w.%!~-]{6,}|sid=[0-9a-f]{32})$/i;

/**
 * An address without the id of the visit it was read in, as it is meant for others. It takes out less than
 * {@link hasSessionId} finds: a parameter taken out by mistake changes what the address leads to.
 */
export function withoutSessionId(url: string): string {
  if (url.length > MAX_CLEANED || !/sid|sess|zenid/i.test(url)) return url;
  const cut = url.search(/[?#]/);
  const path = (cut < 0 ? url : url.slice(0, cut)).replace(PATH_NAMED, '');
  if (cut < 0 || url[cut] === '#') return path + (cut < 0 ? '' : url.slice(cut));
  const hash = url.indexOf('#', cut);
  const query = url.slice(cut + 1, hash < 0 ? undefined : hash);
  const kept = query.split('&').filter((part) => !NAMED.test(part));
  return `${path}${kept.length > 0 ? `?${kept.join('&')}` : ''}${hash < 0 ? '' : url.slice(hash)}`;
}
