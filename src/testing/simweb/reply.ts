// What the special paths of the synthetic web are made of: their shape, and small pages to answer with.
import type { Exchange, FlatHeaders } from './exchange.js';
import type { SpecialName } from './pages/paths.js';
import type { WebState } from './state.js';

/** What a special path may use: the arguments are the parts of the path after its name. */
export interface SpecialCall {
  readonly exchange: Exchange;
  readonly args: readonly string[];
  readonly state: WebState;
  /** `http://host:port` of any host. */
  readonly origin: (host: number) => string;
}

export type SpecialAnswer = (call: SpecialCall) => void;

/** Answers by the name of their path. */
export type SpecialAnswers = Partial<Readonly<Record<SpecialName, SpecialAnswer>>>;

export const HTML_TYPE: FlatHeaders = ['content-type', 'text/html; charset=utf-8'];
export const TEXT_TYPE: FlatHeaders = ['content-type', 'text/plain; charset=utf-8'];

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** A small page with this title and these links. */
export function smallPage(title: string, hrefs: readonly string[] = [], head = ''): string {
  const name = escapeHtml(title);
  const links = hrefs.map((href) => `<a href="${escapeHtml(href)}">${escapeHtml(href)}</a>`).join('\n');
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${name}</title>${head}</head>\n` +
    `<body><h1>${name}</h1>\n<p>A small page of the synthetic web.</p>\n${links}\n</body></html>\n`
  );
}

export const sendPage = (exchange: Exchange, title: string, hrefs?: readonly string[], head?: string): void =>
  exchange.send(200, HTML_TYPE, smallPage(title, hrefs, head));

/** A whole number from the path or query, within bounds; the fallback if it is missing or something else. */
export function wholeNumber(text: string | null | undefined, fallback: number, min = 0, max = 2 ** 40): number {
  const value = Number(text);
  return text === null || text === undefined || text === '' || !Number.isInteger(value) || value < min || value > max
    ? fallback
    : value;
}

/** The cookies of the request. */
export function cookiesOf(exchange: Exchange): Record<string, string> {
  const cookies: Record<string, string> = {};
  for (const pair of (exchange.req.headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0) cookies[pair.slice(0, equals).trim()] = pair.slice(equals + 1).trim();
  }
  return cookies;
}

// A crawler under test may send anything; this much of it is kept.
const MAX_REQUEST_BODY_BYTES = 1024 * 1024;

/** Reads the request's body (its first MiB) and goes on with it. */
export function readBody(exchange: Exchange, use: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  exchange.req.on('data', (piece: Buffer) => {
    if (bytes < MAX_REQUEST_BODY_BYTES) pieces.push(piece.subarray(0, MAX_REQUEST_BODY_BYTES - bytes));
    bytes += piece.length;
  });
  exchange.req.on('end', () => use(Buffer.concat(pieces)));
}
