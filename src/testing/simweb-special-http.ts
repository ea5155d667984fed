// Special paths about HTTP itself: statuses, waiting, retries, redirects, cookies, caching, headers.
import { HTML_TYPE, TEXT_TYPE, cookiesOf, readBody, sendPage, smallPage, wholeNumber } from './simweb-reply.js';
import type { SpecialCall, SpecialPaths } from './simweb-reply.js';

const JSON_TYPE = ['content-type', 'application/json'];
const COOKIE_NAME = /^[\w-]+$/;
const REDIRECTS = [301, 302, 303, 307, 308];

const redirectStatus = ({ exchange }: SpecialCall): number => {
  const status = wholeNumber(exchange.query.get('status'), 302);
  return REDIRECTS.includes(status) ? status : 302;
};

/** `status` with Retry-After until that time has passed since the first request with this key. */
function untilLater({ exchange, state, args }: SpecialCall, status: number): void {
  const { query, host, path } = exchange;
  const afterMs = 1000 * wholeNumber(query.get('after'), 1, 0, 86_400);
  const key = `${status} ${host} ${path} ${afterMs} ${args[0] ?? ''}`;
  const leftMs = state.firstSeenMs(key, exchange.now()) + afterMs - exchange.now();
  if (leftMs <= 0) return sendPage(exchange, 'Welcome back', ['/']);
  const leftSecs = Math.ceil(leftMs / 1000);
  const value = query.has('date') ? new Date(Date.now() + leftSecs * 1000).toUTCString() : String(leftSecs);
  exchange.send(status, [...TEXT_TYPE, 'retry-after', value], 'later\n');
}

function setCookies({ exchange }: SpecialCall, suffix: string): void {
  const headers = ['location', '/_/cookies'];
  for (const [name, value] of exchange.query) {
    if (COOKIE_NAME.test(name)) headers.push('set-cookie', `${name}=${encodeURIComponent(value)}; Path=/${suffix}`);
  }
  exchange.send(302, headers);
}

export const httpPaths: SpecialPaths = {
  status: {
    usage: '/_/status/CODE',
    does: 'answers with this status (200–599) and a small page',
    answer({ exchange, args }) {
      exchange.send(wholeNumber(args[0], 400, 200, 599), HTML_TYPE, smallPage(`Status ${args[0]}`, ['/']));
    },
  },
  delay: {
    usage: '/_/delay/MS',
    does: 'waits before the status line',
    answer({ exchange, args }) {
      exchange.after(wholeNumber(args[0], 0, 0, 3_600_000), () => sendPage(exchange, 'Late'));
    },
  },
  'delay-body': {
    usage: '/_/delay-body/MS',
    does: 'sends headers and half the page at once, the rest after the wait',
    answer({ exchange, args }) {
      const page = smallPage('Late body', ['/']);
      exchange.res.writeHead(200, HTML_TYPE);
      exchange.res.write(page.slice(0, page.length >> 1));
      exchange.after(wholeNumber(args[0], 0, 0, 3_600_000), () => exchange.res.end(page.slice(page.length >> 1)));
    },
  },
  429: {
    usage: '/_/429[/KEY]?after=SECS[&date=1]',
    does: '429 with Retry-After until SECS have passed since the first request; then 200',
    answer: (call) => untilLater(call, 429),
  },
  503: {
    usage: '/_/503[/KEY]?after=SECS[&date=1]',
    does: 'the same with 503',
    answer: (call) => untilLater(call, 503),
  },
  flaky: {
    usage: '/_/flaky/N/KEY[?status=CODE]',
    does: 'fails (500, or CODE) the first N times for this key and host, then 200',
    answer({ exchange, args, state }) {
      const failures = wholeNumber(args[0], 1);
      const tries = state.tries(`flaky ${exchange.host} ${args.join('/')}`);
      if (tries > failures) return sendPage(exchange, `Worked at try ${tries}`, ['/']);
      exchange.send(wholeNumber(exchange.query.get('status'), 500, 400, 599), TEXT_TYPE, `failure ${tries}\n`);
    },
  },
  redirect: {
    usage: '/_/redirect/N[?status=CODE]',
    does: 'N redirects in a row, then a page',
    answer(call) {
      const left = wholeNumber(call.args[0], 0);
      if (left === 0) return sendPage(call.exchange, 'Arrived', ['/']);
      const { search } = new URL(call.exchange.req.url ?? '/', 'http://x');
      call.exchange.send(redirectStatus(call), ['location', `/_/redirect/${left - 1}${search}`]);
    },
  },
  'redirect-to': {
    usage: '/_/redirect-to?url=URL[&status=CODE]',
    does: 'redirects to this URL, absolute or relative, as given',
    answer(call) {
      // Bytes that may not stand in a header are percent-encoded; everything else goes out as given.
      const url = (call.exchange.query.get('url') ?? '/').replace(/[^\x21-\x7e]/g, encodeURIComponent);
      call.exchange.send(redirectStatus(call), ['location', url]);
    },
  },
  'redirect-host': {
    usage: '/_/redirect-host/HOST[?status=CODE]',
    does: 'redirects to the home page of another host of this web',
    answer(call) {
      call.exchange.send(redirectStatus(call), ['location', `${call.origin(wholeNumber(call.args[0], 0))}/`]);
    },
  },
  'redirect-loop': {
    usage: '/_/redirect-loop',
    does: 'two URLs that redirect to each other',
    answer(call) {
      const other = call.args[0] === 'b' ? '/_/redirect-loop' : '/_/redirect-loop/b';
      call.exchange.send(redirectStatus(call), ['location', other]);
    },
  },
  'redirect-self': {
    usage: '/_/redirect-self',
    does: 'without its cookie: a redirect to the same URL that sets it; with it: a page',
    answer(call) {
      if (cookiesOf(call.exchange).passed === 'yes') return sendPage(call.exchange, 'Passed the cookie wall', ['/']);
      call.exchange.send(redirectStatus(call), ['location', '/_/redirect-self', 'set-cookie', 'passed=yes; Path=/']);
    },
  },
  echo: {
    usage: '/_/echo',
    does: 'JSON of method, url, headers and body of the request',
    answer({ exchange }) {
      readBody(exchange, (body) => {
        const { method, url, headers } = exchange.req;
        exchange.send(200, JSON_TYPE, JSON.stringify({ method, url, headers, body: body.toString('utf8') }));
      });
    },
  },
  cookies: {
    usage: '/_/cookies, /_/cookies/set?NAME=VALUE…, /_/cookies/delete?NAME…',
    does: 'JSON of the request’s cookies; sets or deletes cookies and redirects there',
    answer(call) {
      if (call.args[0] === 'set') return setCookies(call, '');
      if (call.args[0] === 'delete') return setCookies(call, '; Max-Age=0');
      call.exchange.send(200, JSON_TYPE, JSON.stringify(cookiesOf(call.exchange)));
    },
  },
  login: {
    usage: '/_/login (GET a form, POST it), /_/members',
    does: 'POST user=NAME sets a session cookie and redirects (303) to /_/members, which answers 401 without it',
    answer({ exchange }) {
      if (exchange.req.method !== 'POST') {
        const form = '<form method="post" action="/_/login"><input name="user"><button>Log in</button></form>';
        return exchange.send(200, HTML_TYPE, smallPage('Log in').replace('</body>', `${form}</body>`));
      }
      readBody(exchange, (body) => {
        const user = new URLSearchParams(body.toString('utf8')).get('user');
        if (!user) return exchange.send(403, TEXT_TYPE, 'who are you?\n');
        const cookie = `session=${encodeURIComponent(user)}; Path=/; HttpOnly`;
        exchange.send(303, ['location', '/_/members', 'set-cookie', cookie]);
      });
    },
  },
  members: {
    usage: '/_/members',
    does: 'a page for those who logged in, else 401',
    answer({ exchange }) {
      const { session } = cookiesOf(exchange);
      if (session === undefined) return exchange.send(401, TEXT_TYPE, 'log in at /_/login\n');
      sendPage(exchange, `Hello ${decodeURIComponent(session)}`, ['/']);
    },
  },
  auth: {
    usage: '/_/auth/USER/PASSWORD',
    does: 'basic authentication: 401 with a challenge, 200 with the right header',
    answer({ exchange, args }) {
      const expected = `Basic ${Buffer.from(`${args[0]}:${args[1]}`).toString('base64')}`;
      if (exchange.req.headers.authorization === expected) return sendPage(exchange, 'Let in');
      exchange.send(401, [...TEXT_TYPE, 'www-authenticate', 'Basic realm="simweb"'], 'not you\n');
    },
  },
  etag: {
    usage: '/_/etag[/VALUE]',
    does: 'a page with this ETag; 304 when If-None-Match names it',
    answer({ exchange, args }) {
      const etag = `"${(args[0] ?? 'first').replace(/[^\w.-]/g, '')}"`;
      const same = exchange.req.headers['if-none-match'] === etag;
      exchange.send(same ? 304 : 200, [...HTML_TYPE, 'etag', etag], same ? undefined : smallPage(`Version ${etag}`));
    },
  },
  'last-modified': {
    usage: '/_/last-modified',
    does: 'a page with Last-Modified of 2025-06-01; 304 when If-Modified-Since is not before it',
    answer({ exchange }) {
      const atMs = Date.UTC(2025, 5, 1);
      const same = Date.parse(exchange.req.headers['if-modified-since'] ?? '') >= atMs;
      const headers = [...HTML_TYPE, 'last-modified', new Date(atMs).toUTCString()];
      exchange.send(same ? 304 : 200, headers, same ? undefined : smallPage('Of June'));
    },
  },
  headers: {
    usage: '/_/headers?NAME=VALUE…',
    does: 'a page with these response headers, for example X-Robots-Tag',
    answer({ exchange }) {
      const headers = exchange.query.has('content-type') ? [] : [...HTML_TYPE];
      for (const [name, value] of exchange.query) {
        if (
          /^[\w-]+$/.test(name) &&
          /^[\x20-\x7e]*$/.test(value) &&
          !/^(content-length|transfer-encoding)$/i.test(name)
        ) {
          headers.push(name, value);
        }
      }
      exchange.send(200, headers, smallPage('With headers', ['/']));
    },
  },
  'header-bytes': {
    usage: '/_/header-bytes/N',
    does: 'a page with one header of N bytes (at most 1 MB)',
    answer({ exchange, args }) {
      const value = 'x'.repeat(wholeNumber(args[0], 100, 0, 1_000_000));
      exchange.send(200, [...HTML_TYPE, 'x-large', value], smallPage('Large header'));
    },
  },
};
