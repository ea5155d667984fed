// Where a redirect may lead, and the request it becomes in paced crawls.
// Promise: every chain ends; method, payload and headers of a hop follow the same rules as in place.
import { CrawlError } from '../../errors.js';
import type { Capture } from '../../fetch/engine.js';
import { createRedirectTrail, nextHop, redirectTarget } from '../../fetch/http/redirect.js';
import type { AllowedHttpMethods, Request } from '../../request/request.js';
import { staysWithin } from '../../request/scope.js';

/** Why a URL must not be visited, from any link. */
export type RefuseVisit = (url: string) => string | undefined;

/** Why a redirect of a request is not followed; undefined: it is. */
export function redirectRefusal(
  request: Request,
  target: string,
  refuseVisit: RefuseVisit | undefined,
): string | undefined {
  return staysWithin(request.enqueueStrategy, request.url, target) ? refuseVisit?.(target) : 'redirect';
}

/** A redirect that was reported, as a request of its own. Throws when the chain has no end. */
export function hopOf(
  request: Request,
  capture: Capture,
  maxRedirects: number,
  sessionId: string | undefined,
): Request {
  const from = new URL(request.target);
  const to = redirectTarget(from, capture.redirectTo!);
  const way = [...request.redirectChain, from.href].map((url) => new URL(url));
  const trail = createRedirectTrail(way[0]!, maxRedirects);
  way.forEach((url, index) => trail.step(url, way[index + 1] ?? to));
  const { method, headers, payload } = nextHop(
    { url: from, method: request.method, headers: request.headers, payload: request.payload },
    capture.statusCode,
    to,
  );
  return request.redirectedTo(to.href, {
    method: method as AllowedHttpMethods,
    // Treated as the request's own headers, which the user gave for one site.
    headers: to.origin === from.origin ? { ...headers } : {},
    payload: payload as string | undefined,
    sessionId,
  });
}

/** Browsers follow more redirects than a crawl may. */
export function checkChain({ redirectChain, url }: Capture, maxRedirects: number): void {
  if (redirectChain.length <= maxRedirects) return;
  throw new CrawlError('REDIRECT_LIMIT', `${url} redirects more than ${maxRedirects} times`);
}
