// The cases of the navigation suite: one request each, and how it ends.
// `expected` gets the placement: what differs on purpose is written there with its reason; undefined: no such option.
import type { TestRunner } from '../conformance/conformance.js';
import type { NavigationEnd, NavigationExpectation, NavigationPlacement, NavigationRequest } from './navigation.js';
import type { AskedPage, HostRole, NavigationSite } from './site.js';

/** Cases of a group are visited together, under the same settings. */
export type NavigationGroup = 'ruled' | 'bare' | 'cookies' | 'robots' | 'guarded' | 'hurried';

export interface NavigationCase {
  readonly name: string;
  readonly group: NavigationGroup;
  requests(at: (path: string, role?: HostRole) => string): NavigationRequest[];
  expected(placement: NavigationPlacement): NavigationExpectation | undefined;
  readonly also?: {
    /** How many ends are reported. Default 1. */
    readonly ends?: (placement: NavigationPlacement) => number;
    readonly check?: (seen: CaseSeen) => void;
  };
}

export interface CaseSeen {
  readonly name: string;
  readonly site: NavigationSite;
  readonly end: NavigationEnd;
  readonly ends: readonly NavigationEnd[];
  readonly asked: readonly AskedPage[];
  readonly expect: TestRunner['expect'];
  readonly placement: NavigationPlacement;
}

type Expected = NavigationExpectation | ((placement: NavigationPlacement) => NavigationExpectation | undefined);
type More = Omit<NavigationRequest, 'url'> & { readonly role?: HostRole };

function visit(
  group: NavigationGroup,
  name: string,
  path: string,
  expected: Expected,
  { role, ...more }: More = {},
  also?: NavigationCase['also'],
): NavigationCase {
  return {
    name,
    group,
    requests: (at) => [{ url: at(path, role), ...more }],
    expected: (placement) => (typeof expected === 'function' ? expected(placement) : expected),
    also,
  };
}

const failed = (code: string, asks?: number): NavigationExpectation => ({
  end: 'failed',
  code,
  ...(asks === undefined ? {} : { asks }),
});
const handled = (more: NavigationExpectation = {}): NavigationExpectation => ({ end: 'handled', ...more });
const ofScripts =
  (expected: NavigationExpectation) =>
  ({ family }: NavigationPlacement) =>
    family === 'script' ? expected : undefined;
/** Batches have no domain rules and no strategies: their list is all they visit. */
const notOfBatches = (expected: NavigationExpectation) => (placement: NavigationPlacement) =>
  placement.family === 'batch' ? undefined : expected;
const never =
  (role: HostRole) =>
  ({ asked, expect }: CaseSeen): void =>
    expect(asked.filter(({ host }) => host === role)).toEqual([]);

/** Of a status that may be gone at the next try: fails after its retries. Batches name the status, not its meaning. */
const blocked = ({ family }: NavigationPlacement): NavigationExpectation =>
  failed(family === 'batch' ? 'HTTP_STATUS' : 'HTTP_BLOCKED', 2);

const SECRETS = { 'x-own': 'own', 'x-key': 'secret', authorization: 'Basic eDp5' };

const REDIRECTS: NavigationCase[] = [
  visit(
    'ruled',
    'a redirected request keeps the URL that was asked for, and tells the way',
    '/hops/2',
    handled({ loaded: '/hops/0', chain: ['/hops/2', '/hops/1'], title: 'arrived', asks: 3 }),
    {},
    {
      check({ end, name, site, expect, placement }) {
        expect(end.url).toBe(site.url(name, '/hops/2'));
        if (placement.family !== 'batch') expect(end.uniqueKey).toContain('/hops/2');
      },
    },
  ),
  visit(
    'ruled',
    'a redirected request with a key of its own keeps it',
    '/hops/1',
    notOfBatches(handled({ loaded: '/hops/0', uniqueKey: 'my key', chain: ['/hops/1'] })),
    { uniqueKey: 'my key' },
  ),
  visit('ruled', 'a page that does not redirect has no chain', '/page', handled({ loaded: '/page', chain: [] })),
  visit(
    'ruled',
    'a 301 leads to another host',
    '/to?host=other&status=301',
    handled({ loaded: '/page', chain: ['/to'], title: 'page', asks: 2 }),
  ),
  visit('ruled', 'a loop of redirects is a failure', '/loop/a', failed('REDIRECT_LIMIT')),
  visit('bare', 'a loop of redirects is a failure where no rules hold', '/loop/a', failed('REDIRECT_LIMIT')),
  visit('ruled', 'a page that redirects to itself for ever is a failure', '/self', failed('REDIRECT_LIMIT')),
  visit(
    'ruled',
    'ten redirects are followed',
    '/hops/10',
    handled({ loaded: '/hops/0', title: 'arrived', asks: 11 }),
    {},
    { check: ({ end, expect }) => expect(end.redirectChain).toHaveLength(10) },
  ),
  visit('ruled', 'eleven redirects are a failure', '/hops/11', failed('REDIRECT_LIMIT')),
  visit('bare', 'eleven redirects are a failure where no rules hold', '/hops/11', failed('REDIRECT_LIMIT')),
  visit('cookies', 'a page behind a cookie is reached', '/cookie', (placement) =>
    // Pods have no sessions, so no cookies: the page redirects to itself forever.
    placement.family === 'pod' ? failed('REDIRECT_LIMIT') : handled({ title: 'cookie kept', loaded: '/cookie' }),
  ),
  visit('cookies', 'a page that sends out and back is reached', '/walk', (placement) =>
    placement.family === 'pod'
      ? failed('REDIRECT_LIMIT')
      : handled({ title: 'walked', chain: ['/walk', '/walk/gate'] }),
  ),
  visit('ruled', 'a Location that names no URL is a failure', '/location?to=http%3A%2F%2F', failed('REDIRECT_INVALID')),
  visit(
    'ruled',
    'a redirect to another scheme is a failure',
    '/location?to=ftp%3A%2F%2Fx%2F',
    failed('REDIRECT_INVALID'),
  ),
  visit(
    'ruled',
    'a 302 without a Location is a page',
    '/status/302',
    handled({ statusCode: 302, loaded: '/status/302' }),
  ),
  visit(
    'ruled',
    'a 307 keeps method and payload',
    '/to?status=307&path=/echo',
    handled({ title: 'POST x=1 - - -', loaded: '/echo' }),
    { method: 'POST', payload: 'x=1' },
  ),
  visit('ruled', 'a 308 keeps method and payload', '/to?status=308&path=/echo', handled({ title: 'POST x=1 - - -' }), {
    method: 'POST',
    payload: 'x=1',
  }),
  visit('ruled', 'a 302 turns POST into GET', '/to?status=302&path=/echo', handled({ title: 'GET - - - -' }), {
    method: 'POST',
    payload: 'x=1',
  }),
  visit('ruled', 'a 303 turns POST into GET', '/to?status=303&path=/echo', handled({ title: 'GET - - - -' }), {
    method: 'POST',
    payload: 'x=1',
  }),
  visit(
    'ruled',
    'headers of a request go along within its origin',
    '/to?path=/echo',
    handled({ title: 'GET - own secret Basic eDp5' }),
    { headers: SECRETS },
  ),
  visit(
    'ruled',
    'headers of a request stay in its origin',
    '/to?path=/echo&host=other',
    handled({ title: 'GET - - - -' }),
    { headers: SECRETS },
  ),
  {
    name: 'two requests that lead to the same page are both told of',
    group: 'ruled',
    requests: (at) => [{ url: at('/page') }, { url: at('/to?path=/page') }],
    expected: () => ({}),
    also: {
      // What another process of a pod queued is dropped by the queue without a word.
      ends: ({ family }) => (family === 'pod' ? 1 : 2),
      check({ ends, expect, placement }) {
        const ways = ends.map(({ end, reason }) => reason ?? end).sort();
        // A paced crawl does not request a page again; a batch has a result per list entry.
        const isShared = placement.isPaced && placement.family !== 'batch';
        if (placement.family === 'pod') return expect(ways).toEqual(['handled']);
        expect(ways).toEqual(isShared ? ['duplicate', 'handled'] : ['handled', 'handled']);
      },
    },
  },
];

const STATUSES: NavigationCase[] = [
  visit('ruled', 'a 404 is a page of a crawl and a failure of a batch', '/status/404', ({ family }) =>
    family === 'batch' ? failed('HTTP_STATUS', 1) : handled({ statusCode: 404, asks: 1 }),
  ),
  visit('ruled', 'a 500 fails after its retries', '/status/500', failed('HTTP_STATUS', 2)),
  visit('ruled', 'a 500 that goes away does not matter', '/flaky/500', handled({ title: 'recovered', asks: 2 })),
  visit('ruled', 'a 408 is tried again', '/flaky/408', handled({ title: 'recovered', asks: 2 })),
  visit(
    'ruled',
    'a 408 that stays fails after its retries',
    '/status/408',
    failed('HTTP_STATUS'),
    {},
    {
      // Chromium asks a second time on its own over a connection that was used before, its headless shell does not.
      check: ({ asked, expect, placement: { engine } }) =>
        expect(engine === 'browser' ? [2, 3, 4] : [2]).toContain(asked.length),
    },
  ),
  visit('ruled', 'a 425 is tried again', '/flaky/425', handled({ title: 'recovered', asks: 2 })),
  visit('ruled', 'a 429 that stays fails after its retries', '/status/429', blocked),
  visit(
    'ruled',
    'a Retry-After is waited for, and coming back is no retry',
    '/flaky/503?after=1&times=2',
    handled({ title: 'recovered', asks: 3 }),
  ),
  visit('ruled', 'so is that of a 429', '/flaky/429?after=1&times=2', handled({ title: 'recovered', asks: 3 })),
  visit(
    'ruled',
    'a Retry-After of more than an hour is a failure',
    '/status/503?after=3700',
    failed('RETRY_AFTER_TOO_LONG', 1),
  ),
  visit('ruled', 'the Retry-After of a page that is no overload means nothing', '/status/200?after=7200', handled()),
  visit('ruled', 'a 403 retires the session of a script', '/status/403', ({ family }) => {
    if (family === 'batch') return failed('HTTP_STATUS', 1);
    // Pods have no sessions that could be blocked.
    return family === 'pod' ? handled({ statusCode: 403, asks: 1 }) : failed('HTTP_BLOCKED', 2);
  }),
  visit('bare', 'the page of a bot protection is a block', '/challenge', ofScripts(failed('SESSION_BAD'))),
  visit(
    'ruled',
    'the page of a bot protection is a page unless asked',
    '/challenge',
    handled({ title: 'Just a moment' }),
  ),
];

const BODIES: NavigationCase[] = [
  visit('ruled', 'a type that no handler reads is a failure', '/type?type=application/zip', ({ family }) =>
    // The results of a batch have bytes of any type; a browser would save the file.
    family === 'batch' ? undefined : failed('CONTENT_TYPE', 1),
  ),
  visit('ruled', 'JSON is handled', '/type?type=application/json', handled({ statusCode: 200 })),
  visit('ruled', 'a body beyond maxBodyBytes is a failure', '/large', ({ engine, family }) =>
    // A browser has no such limit; batches have that of the library.
    engine === 'browser' || family === 'batch' ? undefined : failed('BODY_TOO_LARGE', 1),
  ),
  visit('ruled', 'a connection that is cut fails after its retries', '/reset', (placement) => ({
    end: 'failed',
    code: 'CONNECT_RESET',
    // A browser retries a cut connection, and a pod already has a connection, from robots.txt.
    ...(placement.engine === 'http' && placement.family !== 'pod' ? { asks: 2 } : {}),
  })),
  visit('hurried', 'no answer in time is a failure', '/slow', failed('FETCH_TIMEOUT')),
  {
    name: 'a port without a server is a failure',
    group: 'ruled',
    requests: (at) => [{ url: at('/page').replace(/:\d+\//, ':65099/') }],
    // A pod asks for robots.txt first, and tells of a host that is away once, not per request.
    expected: ({ family }) => (family === 'pod' ? undefined : failed('CONNECT_REFUSED', 0)),
  },
];

const RULES: NavigationCase[] = [
  visit(
    'ruled',
    'an excluded domain is left out',
    '/page',
    notOfBatches({ end: 'skipped', reason: 'DOMAIN_EXCLUDED', asks: 0 }),
    { role: 'excluded' },
  ),
  visit(
    'ruled',
    'a redirect to an excluded domain is not followed',
    '/to?host=excluded',
    notOfBatches({ end: 'skipped', reason: 'DOMAIN_EXCLUDED' }),
    {},
    { check: never('excluded') },
  ),
  visit(
    'ruled',
    'a redirect that leaves the strategy of its link is not followed',
    '/to?host=other',
    notOfBatches({ end: 'skipped', reason: 'redirect' }),
    { enqueueStrategy: 'same-hostname' },
    { check: never('other') },
  ),
  visit('bare', 'the user agent is the one that was given', '/agent', ({ family }) =>
    // Pods tell sites how to reach their owner.
    handled({ title: family === 'pod' ? 'own-agent/1 (test@example.com)' : 'own-agent/1' }),
  ),
  visit(
    'robots',
    'a domain is asked under its own user agent',
    '/agent',
    ofScripts(handled({ title: 'named-agent' })),
    { role: 'renamed' },
    {
      check({ site, end, expect }) {
        const { origin } = new URL(end.url);
        const names = site.robots.filter(({ url }) => url.startsWith(`${origin}/`)).map(({ userAgent }) => userAgent);
        expect(new Set(names)).toEqual(new Set(['named-agent']));
      },
    },
  ),
  visit(
    'robots',
    'robots.txt is read under the user agent of its domain',
    '/named',
    ofScripts({ end: 'skipped', reason: 'robotsTxt', asks: 0 }),
    { role: 'renamed' },
  ),
  visit(
    'robots',
    'what robots.txt forbids is not asked for',
    '/forbidden',
    ({ family }) =>
      family === 'batch' ? failed('ROBOTS_DENIED', 0) : { end: 'skipped', reason: 'robotsTxt', asks: 0 },
    { role: 'strict' },
  ),
  visit('robots', 'what robots.txt allows is asked for', '/page', handled({ title: 'page' }), { role: 'strict' }),
  visit(
    'robots',
    'a redirect to what robots.txt forbids is not followed',
    '/to?host=strict&path=/forbidden',
    ({ family }) =>
      family === 'batch' ? failed('ROBOTS_DENIED', 1) : { end: 'skipped', reason: 'robotsTxt', asks: 1 },
    {},
    { check: never('strict') },
  ),
  visit('guarded', 'a private address may be named by the user', '/page', ({ family }) =>
    // On pods the configuration alone says so.
    family === 'pod' ? failed('ADDRESS_REFUSED', 0) : handled({ title: 'page' }),
  ),
  visit(
    'guarded',
    'a private address may not be named by a redirect',
    '/to?host=other',
    failed('ADDRESS_REFUSED'),
    {},
    { check: never('other') },
  ),
  visit(
    'ruled',
    'headers of a hook are sent',
    '/page',
    ({ engine, family }) =>
      // A browser's hooks have the page itself; pods have no hooks.
      engine === 'browser' || family === 'pod' ? undefined : handled(),
    {},
    { check: ({ asked, expect }) => expect(asked[0]!.headers['x-hook']).toBe('hooked') },
  ),
  visit(
    'ruled',
    'headers of a hook stay in the origin of the request',
    '/to?host=other',
    ({ engine, family }) => (engine === 'browser' || family === 'pod' ? undefined : handled({ asks: 2 })),
    {},
    {
      check: ({ asked, expect }) =>
        expect(asked.map(({ headers }) => headers['x-hook'])).toEqual(['hooked', undefined]),
    },
  ),
  visit('ruled', 'a request without navigation asks for nothing', '/page', notOfBatches(handled({ asks: 0 })), {
    skipNavigation: true,
  }),
  visit(
    'ruled',
    'the crawler of a context is there',
    '/page',
    notOfBatches(handled()),
    {},
    {
      check({ end, expect }) {
        for (const name of ['addRequests', 'pushData', 'stop', 'useState']) expect(end.crawler).toContain(name);
      },
    },
  ),
];

export const NAVIGATION_CASES: readonly NavigationCase[] = [...REDIRECTS, ...STATUSES, ...BODIES, ...RULES];
