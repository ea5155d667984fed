// User names and passwords in URLs (`https://user:password@host/`): taken out of a URL, and out of text that may name one.
// Promise: linear in the text.
import { percentDecoded } from './percent-decoded.js';
import { parseUrl } from './url.js';

export interface WithoutLogin {
  readonly url: string;
  /** What the URL's user name and password are as an Authorization header, if it has some. */
  readonly authorization?: string;
}

export function withoutLogin(text: string): WithoutLogin {
  const url = text.includes('@') ? parseUrl(text) : undefined;
  if (!url || (url.username === '' && url.password === '')) return { url: text };
  const authorization = basicCredentials(url);
  url.username = '';
  url.password = '';
  return { url: url.href, authorization };
}

/** The Basic credentials a URL spells before its host. */
export function basicCredentials(url: URL): string {
  const text = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
}

/** Text for logs, reports and screens: every URL in it without user name and password. */
export function hideLogins(text: string): string {
  // A scan from one "://" ends at the next slash, so no character is looked at twice.
  return text.includes('@') ? text.replace(/:\/\/[^\s/?#]*@/g, '://') : text;
}

/** Text made of a page without the login that its URL was typed with, wherever a link of the page took it along. */
export function forgetLogin(text: string, typed: string): string {
  const url = typed.includes('@') ? parseUrl(typed) : undefined;
  if (!url || (url.username === '' && url.password === '')) return text;
  const login = `${url.username}${url.password === '' ? '' : `:${url.password}`}@`;
  // Markdown puts a backslash before some characters.
  const pattern = [...login].map((char) => `\\\\?${/[\w%]/.test(char) ? char : `\\${char}`}`).join('');
  return text.replace(new RegExp(`(?<=//)${pattern}`, 'g'), '');
}
