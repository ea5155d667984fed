// Endless link spaces of the synthetic web, under /trap/…: each page leads to new ones forever.
// Four kinds that real crawls meet: calendars, repeated path segments, session ids, query explosions.
import { hash32, hashText, SALT } from './chance.js';
import type { Exchange } from '../exchange.js';
import { sendPage } from '../reply.js';

const LINKS = 5;

function calendar(parts: readonly string[]): string[] {
  const year = Number(parts[0]) || 2026;
  const month = Number(parts[1]) || 1;
  const next = month === 12 ? `${year + 1}/1` : `${year}/${month + 1}`;
  const last = month === 1 ? `${year - 1}/12` : `${year}/${month - 1}`;
  const days = [1, 11, 21].map((day) => `/trap/calendar/${year}/${month}/${day}`);
  return [`/trap/calendar/${next}`, `/trap/calendar/${last}`, ...days];
}

/** Links of the trap page at this path; other kinds are entered from the calendar. */
export function trapLinks(seed: number, host: number, path: string, query: string): string[] {
  const [kind = '', ...parts] = path.slice('/trap/'.length).split('/');
  const roll = (i: number): number => hash32(seed, host, hashText(path + query), SALT.trap + i * 64);
  const list = (make: (i: number) => string): string[] => Array.from({ length: LINKS }, (_, i) => make(i));
  switch (kind) {
    case 'deep':
      return list((i) => `${path}/${['more', 'again', 'more'][i % 3]}${i > 2 ? i : ''}`);
    case 'session':
      return list((i) => `/trap/session/page-${i}?sid=${roll(i).toString(16)}`);
    case 'query':
      return list((i) => `${path}?${query ? `${query}&` : ''}${'abcdefgh'[roll(i) % 8]}=${roll(i) % 10}`);
    default:
      return [...calendar(parts), '/trap/deep/more', '/trap/session/page-0', '/trap/query/search'];
  }
}

export function answerTrap(exchange: Exchange, seed: number): void {
  const query = exchange.query.toString();
  sendPage(exchange, `Trap ${exchange.path}`, trapLinks(seed, exchange.host, exchange.path, query));
}
