// HTTP pages as hooks and handlers see them: hooks change the request's headers, method, payload, proxy and timeout.
import type { FetchOrder } from '../../fetch/engine.js';
import { nextHop } from '../../fetch/http/redirect.js';
import type { HttpHookOptions } from '../../handle/context.js';
import type { Request } from '../../request/request.js';
import type { Visit } from '../run/attempt.js';
import { createHookOptionsReader } from './hook-options.js';
import { type Hook, lowerCased, type NavigationRules, orderFor, runHooks, type Side } from './navigate.js';
import type { CrawlOrder } from './order.js';
import type { RefuseVisit } from './redirect.js';
import type { ShownHeaders } from './shown-headers.js';

export interface HttpSideParts<Live extends object> {
  readonly rules: NavigationRules;
  readonly preNavigationHooks: readonly Hook[];
  readonly postNavigationHooks: readonly Hook[];
  /** The user agent that a URL is requested with. */
  readonly userAgentFor: (url: string) => string;
  /** Whether markdown is asked for, where a site offers it. */
  readonly acceptsMarkdown?: ((visit: Visit) => boolean) | undefined;
  /** What requests show of their sender, where that may differ from our own name. */
  readonly shown?: ShownHeaders | undefined;
  readonly refuseVisit?: RefuseVisit | undefined;
  readonly checksType: boolean;
  /** Which responses are read as documents. Default none. */
  readonly documents?: Side<Live>['documents'];
  readonly add: Side<Live>['add'];
  /** Whether captures have the body as received. */
  readonly received?: FetchOrder['received'];
  /** What `add` adds gives bodies back. */
  readonly lends?: boolean;
  /** Conditional request headers, for a page that is remembered. */
  readonly conditionsFor?: ((request: Request) => Record<string, string> | undefined) | undefined;
  /** What the order has besides. */
  readonly more?: (visit: Visit) => Partial<CrawlOrder<Live>>;
}

const DEFAULT_HEADERS = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** A site that knows none sends HTML as ever. */
const MARKDOWN_FIRST = 'text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,*/*;q=0.7';

export function createHttpSide<Live extends object>(parts: HttpSideParts<Live>): Side<Live> {
  const { rules, userAgentFor, refuseVisit, received, shown } = parts;
  const chosen = createHookOptionsReader();

  function usualHeaders(visit: Visit): Record<string, string> {
    const { target } = visit.request;
    const { session } = visit.identity;
    const headers = shown?.instead
      ? { ...shown.instead(target, session) }
      : { 'user-agent': userAgentFor(target), ...(session?.headerSet ?? DEFAULT_HEADERS) };
    return parts.acceptsMarkdown?.(visit) ? { ...headers, accept: MARKDOWN_FIRST } : headers;
  }

  function hookOptionsFor(visit: Visit): HttpHookOptions {
    const { request, identity } = visit;
    return {
      headers: { ...usualHeaders(visit), ...request.headers },
      method: request.method,
      payload: request.payload,
      proxyUrl: identity.proxyInfo?.url,
      timeoutMs: rules.navigationTimeoutMs,
    };
  }

  return {
    checksType: parts.checksType,
    documents: parts.documents,
    postNavigationHooks: parts.postNavigationHooks,
    add: parts.add,
    async prepare(visit) {
      const { request } = visit;
      const hookOptions = hookOptionsFor(visit);
      if (parts.preNavigationHooks.length > 0) {
        const before = { ...hookOptions, headers: { ...hookOptions.headers } };
        await runHooks(parts.preNavigationHooks, visit, hookOptions, rules.hookTimeoutMs);
        followRequest(hookOptions, before, hookOptionsFor(visit));
      }
      const { url, timeoutMs } = chosen.read(hookOptions, request.target, (text) => visit.context.log.warning(text));
      const { method, payload, proxyUrl } = hookOptions;
      const headers = lowerCased(hookOptions.headers);
      if (shown && (hookOptions.useHeaderGenerator || hookOptions.headerGeneratorOptions)) {
        await shown.change(headers, usualHeaders(visit), hookOptions, visit.identity.session);
      }
      const order = {
        ...orderFor(visit, rules, refuseVisit),
        url,
        method,
        headers: withConditions(headersFor(request, headers), parts.conditionsFor?.(request)),
        payload,
        proxyUrl,
        timeoutMs,
        received,
        lends: parts.lends,
        ...parts.more?.(visit),
      };
      return { order, hookOptions };
    },
  };
}

/** Headers that hooks set for the requested URL may be secrets of that site: other sites must not get them. */
function headersFor({ url, target }: Request, headers: Record<string, string>): Readonly<Record<string, string>> {
  if (target === url) return headers;
  const [from, to] = [new URL(url), new URL(target)];
  const isSafer = from.hostname === to.hostname && from.protocol === 'http:' && to.protocol === 'https:';
  return isSafer ? headers : nextHop({ url: from, method: 'GET', headers }, 307, to).headers;
}

/** Whoever asks conditionally on their own account gets the server's own answer. */
function withConditions(
  headers: Readonly<Record<string, string>>,
  conditions: Record<string, string> | undefined,
): Readonly<Record<string, string>> {
  if (!conditions || 'if-none-match' in headers || 'if-modified-since' in headers) return headers;
  return { ...headers, ...conditions };
}

/** What hooks changed on the request itself counts too, unless they changed the same in the options. */
function followRequest(chosen: HttpHookOptions, before: HttpHookOptions, after: HttpHookOptions): void {
  if (chosen.method === before.method) chosen.method = after.method;
  if (chosen.payload === before.payload) chosen.payload = after.payload;
  for (const [name, value] of Object.entries(after.headers)) {
    if (chosen.headers[name] === before.headers[name]) chosen.headers[name] = value;
  }
}
