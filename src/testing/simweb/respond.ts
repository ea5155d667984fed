// Decides the answer to one request: the test's own answers, special paths, then the host as planned.
// Promise: every client gets a response or a deliberate fault, and the server keeps running.
import { hash32, hashText, SALT, share } from './pages/chance.js';
import type { Bodies } from './pages/bodies.js';
import { compress, negotiate } from './pages/bodies.js';
import type { Exchange, FlatHeaders } from './exchange.js';
import { answerWithFault } from './hostile.js';
import type { HostPlan, SimwebPlan } from './knobs.js';
import type { SiteMap } from './pages/map.js';
import type { PageMaker } from './pages/pages.js';
import { TEXT_TYPE, cookiesOf, wholeNumber } from './reply.js';
import type { SiteFiles } from './pages/robots.js';
import { answerSpecial, isSpecial } from './special/special.js';
import type { PageChanges } from './changes.js';
import type { WebState } from './state.js';
import { answerTrap } from './pages/traps.js';

/** An answer that a test gives for a path of its own. */
export interface ServedAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Default: `content-type: text/html; charset=utf-8`. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body. */
  readonly body?: string | Uint8Array;
  /** How long the answer waits. */
  readonly delayMs?: number;
}

export interface Parts {
  readonly plan: SimwebPlan;
  readonly map: SiteMap;
  readonly pages: PageMaker;
  readonly bodies: Bodies;
  readonly files: SiteFiles;
  readonly state: WebState;
  readonly changes: PageChanges;
  /** The test's answer for this host and path, if it gave one. */
  readonly served: (host: number, path: string) => ServedAnswer | undefined;
}

const REDIRECTS = [301, 302, 303, 307, 308];
const CHUNK_BYTES = 16_384;
const WALL_COOKIE = 'wall';
// These break everything on a host, robots.txt included; the other faults only its pages.
const WHOLE_HOST_FAULTS: readonly string[] = ['refuse', 'reset', 'hang', 'garbage'];

export function createResponder(parts: Parts): (exchange: Exchange, page: number) => void {
  const { plan, map, pages, bodies, files, state, changes } = parts;

  function latencyOf(host: HostPlan, exchange: Exchange): number {
    const [min, max] = host.latencyMs;
    return min + share(hash32(plan.seed, exchange.host, hashText(exchange.path), SALT.latency)) * (max - min);
  }

  function respond(exchange: Exchange, page: number): void {
    const { host: number, path } = exchange;
    if (number < 0) return exchange.send(421, TEXT_TYPE, 'this address is no host of this web\n');
    const served = parts.served(number, path);
    if (served) return sendServed(exchange, served);
    if (isSpecial(path)) return answerSpecial({ exchange, state, origin: map.origin });
    const host = map.host(number);
    const delayMs = latencyOf(host, exchange);
    if (delayMs > 0) exchange.after(delayMs, () => answer(exchange, host, page));
    else answer(exchange, host, page);
  }

  function answer(exchange: Exchange, host: HostPlan, page: number): void {
    const { path } = exchange;
    const { fault, rateLimit } = host;
    if (fault !== 'none' && WHOLE_HOST_FAULTS.includes(fault)) return answerWithFault(exchange, fault);
    if (rateLimit && !state.allow(exchange.host, rateLimit.requests, rateLimit.windowMs, exchange.now())) {
      return exchange.send(429, [...TEXT_TYPE, 'retry-after', String(rateLimit.retryAfterSecs)], 'too many requests\n');
    }
    if (files.answer(exchange)) return;
    if (fault !== 'none') return answerWithFault(exchange, fault);
    if (host.cookieWall && cookiesOf(exchange)[WALL_COOKIE] === undefined) {
      return exchange.send(302, ['location', exchange.req.url ?? '/', 'set-cookie', `${WALL_COOKIE}=passed; Path=/`]);
    }
    if (page >= 0) return answerPage(exchange, host, page);
    if (path.startsWith('/go/')) return answerGo(exchange);
    if (path.startsWith('/out/')) return answerOut(exchange);
    if (path.startsWith('/loop/')) return answerLoop(exchange);
    if (path.startsWith('/trap/') && host.trap) return answerTrap(exchange, plan.seed);
    exchange.send(404, TEXT_TYPE, 'no such page\n');
  }

  const redirect = (exchange: Exchange, location: string): void => {
    const status =
      REDIRECTS[hash32(plan.seed, exchange.host, hashText(exchange.path), SALT.redirect) % REDIRECTS.length];
    exchange.send(status as number, ['location', location]);
  };

  /** `/go/PAGE/HOPS`: that many redirects, then the page. */
  function answerGo(exchange: Exchange): void {
    const [, , page, hops] = exchange.path.split('/');
    const target = wholeNumber(page, -1, 0, plan.pagesPerHost - 1);
    const left = wholeNumber(hops, -1, 1, 100);
    if (target < 0 || left < 0) return exchange.send(404, TEXT_TYPE, 'no such redirect\n');
    redirect(exchange, left > 1 ? `/go/${target}/${left - 1}` : map.path(target));
  }

  /** `/out/HOST/PAGE`: a redirect to another host. */
  function answerOut(exchange: Exchange): void {
    const [, , host, page] = exchange.path.split('/');
    const to = wholeNumber(host, -1, 0, plan.hosts - 1);
    const target = wholeNumber(page, -1, 0, plan.pagesPerHost - 1);
    if (to < 0 || target < 0) return exchange.send(404, TEXT_TYPE, 'no such redirect\n');
    redirect(exchange, map.origin(to) + map.path(target));
  }

  /** `/loop/N` and `/loop/N/back` redirect to each other. */
  function answerLoop(exchange: Exchange): void {
    const { path } = exchange;
    redirect(exchange, path.endsWith('/back') ? path.slice(0, -'/back'.length) : `${path}/back`);
  }

  function answerPage(exchange: Exchange, host: HostPlan, page: number): void {
    const { req, host: number } = exchange;
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return exchange.send(405, [...TEXT_TYPE, 'allow', 'GET, HEAD'], 'only GET and HEAD\n');
    }
    switch (map.kind(number, page)) {
      case 'missing':
        return exchange.send(404, TEXT_TYPE, 'this page is gone\n');
      case 'failing':
        return exchange.send(500, TEXT_TYPE, 'this page always fails\n');
      case 'recovering':
        if (state.tries(`page ${number} ${page}`) <= plan.statusMix.recoverAfter) {
          return exchange.send(503, TEXT_TYPE, 'not yet\n');
        }
        break;
      case 'page':
      case 'private':
        break;
    }
    sendPageBody(exchange, host, page);
  }

  function sendPageBody(exchange: Exchange, host: HostPlan, page: number): void {
    const { req, host: number } = exchange;
    const nowMs = Date.now();
    const version = changes.versionAt(number, page, nowMs);
    exchange.shows(version);
    const headers: FlatHeaders = ['content-type', 'text/html; charset=utf-8'];
    if (plan.cookies && cookiesOf(exchange).visitor === undefined) {
      headers.push('set-cookie', `visitor=${hash32(plan.seed, number, page, SALT.etag).toString(16)}; Path=/`);
    }
    if (plan.validators) {
      const { etags, lastModified } = plan.changes;
      const etag = pages.etag(number, page, etags === 'wrong' ? 0 : version);
      const modified = lastModified === 'now' ? new Date(nowMs) : pages.lastModified(number, page, version);
      const said = etags === 'none' ? undefined : etags === 'weak' ? `W/${etag}` : etag;
      if (said !== undefined) headers.push('etag', said);
      if (lastModified !== 'none') headers.push('last-modified', modified.toUTCString());
      headers.push('vary', 'accept-encoding');
      if (isUnchanged(exchange, said, lastModified === 'none' ? undefined : modified)) {
        return exchange.send(304, headers);
      }
    }
    const encoding = negotiate(plan.compression, req.headers['accept-encoding'] as string | undefined);
    const body = plan.changes.furniture
      ? compress(pages.furnished(number, page, version, state.tries(`furniture ${number} ${page}`)), encoding)
      : bodies.body(number, page, version, encoding);
    if (encoding !== 'none') headers.push('content-encoding', encoding);
    if (!plan.keepAlive) headers.push('connection', 'close');
    if (!plan.chunked) headers.push('content-length', String(body.length));
    if (host.bytesPerSec > 0) return exchange.drip(200, headers, body, host.bytesPerSec);
    if (!plan.chunked || req.method === 'HEAD') return exchange.send(200, headers, body);
    let at = 0;
    exchange.stream(200, headers, () => {
      const piece = body.subarray(at, (at += CHUNK_BYTES));
      return piece.length > 0 ? piece : undefined;
    });
  }

  return respond;
}

function isUnchanged({ req }: Exchange, etag: string | undefined, modified: Date | undefined): boolean {
  const match = req.headers['if-none-match'];
  if (match !== undefined && etag !== undefined)
    return match === '*' || match.split(',').some((one) => one.trim() === etag);
  const since = req.headers['if-modified-since'];
  return since !== undefined && modified !== undefined && Date.parse(since) >= modified.getTime();
}

function sendServed(exchange: Exchange, answer: ServedAnswer): void {
  const headers: FlatHeaders = [];
  for (const [name, value] of Object.entries(answer.headers ?? { 'content-type': 'text/html; charset=utf-8' })) {
    for (const one of typeof value === 'string' ? [value] : value) headers.push(name, one);
  }
  const { body } = answer;
  const send = (): void =>
    exchange.send(
      answer.status ?? 200,
      headers,
      typeof body === 'string' || body === undefined ? body : Buffer.from(body),
    );
  if (answer.delayMs) exchange.after(answer.delayMs, send);
  else send();
}
