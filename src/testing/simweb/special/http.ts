// Special paths about HTTP itself: statuses, waiting, retries, redirects, cookies, caching, headers.
import { HTML_TYPE, TEXT_TYPE, cookiesOf, readBody, sendPage, smallPage, wholeNumber } from '../reply.js';
import type { SpecialAnswers, SpecialCall } from '../reply.js';

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

export const httpAnswers = {
  status({ exchange, args }) {
    exchange.send(wholeNumber(args[0], 400, 200, 599), HTML_TYPE, smallPage(`Status ${args[0]}`, ['/']));
  },
  delay({ exchange, args }) {
    exchange.after(wholeNumber(args[0], 0, 0, 3_600_000), () => sendPage(exchange, 'Late'));
  },
  'delay-body'({ exchange, args }) {
    const page = smallPage('Late body', ['/']);
    exchange.res.writeHead(200, HTML_TYPE);
    exchange.res.write(page.slice(0, page.length >> 1));
    exchange.after(wholeNumber(args[0], 0, 0, 3_600_000), () => exchange.res.end(page.slice(page.length >> 1)));
  },
  429: (call) => untilLater(call, 429),
  503: (call) => untilLater(call, 503),
  flaky({ exchange, args, state }) {
    const failures = wholeNumber(args[0], 1);
    const tries = state.tries(`flaky ${exchange.host} ${args.join('/')}`);
    if (tries > failures) return sendPage(exchange, `Worked at try ${tries}`, ['/']);
    exchange.send(wholeNumber(exchange.query.get('status'), 500, 400, 599), TEXT_TYPE, `failure ${tries}\n`);
  },
  redirect(call) {
    const left = wholeNumber(call.args[0], 0);
    if (left === 0) return sendPage(call.exchange, 'Arrived', ['/']);
    const { search } = new URL(call.exchange.req.url ?? '/', 'http://x');
    call.exchange.send(redirectStatus(call), ['location', `/_/redirect/${left - 1}${search}`]);
  },
  'redirect-to'(call) {
    // Bytes that may not stand in a header are percent-encoded; everything else goes out as given.
    const url = (call.exchange.query.get('url') ?? '/').replace(/[^\x21-\x7e]/g, encodeURIComponent);
    call.exchange.send(redirectStatus(call), ['location', url]);
  },
  'redirect-host'(call) {
    call.exchange.send(redirectStatus(call), ['location', `${call.origin(wholeNumber(call.args[0], 0))}/`]);
  },
  'redirect-loop'(call) {
    const other = call.args[0] === 'b' ? '/_/redirect-loop' : '/_/redirect-loop/b';
    call.exchange.send(redirectStatus(call), ['location', other]);
  },
  'redirect-self'(call) {
    if (cookiesOf(call.exchange).passed === 'yes') return sendPage(call.exchange, 'Passed the cookie wall', ['/']);
    call.exchange.send(redirectStatus(call), ['location', '/_/redirect-self', 'set-cookie', 'passed=yes; Path=/']);
  },
  echo({ exchange }) {
    readBody(exchange, (body) => {
      const { method, url, headers } = exchange.req;
      exchange.send(200, JSON_TYPE, JSON.stringify({ method, url, headers, body: body.toString('utf8') }));
    });
  },
  cookies(call) {
    if (call.args[0] === 'set') return setCookies(call, '');
    if (call.args[0] === 'delete') return setCookies(call, '; Max-Age=0');
    call.exchange.send(200, JSON_TYPE, JSON.stringify(cookiesOf(call.exchange)));
  },
  login({ exchange }) {
    if (exchange.req.method !== 'POST') {
      const form = '<form method="post" action="/_/login"><input name="user"><button>Log in</button></form>';
      return exchange.send(200, HTML_TYPE, smallPage('Log in').replace('</body>', `${form}</body>`));
    }
    readBody(exchange, (body) => {
      const user = new URLSearchParams(body.toString('utf8')).get('user');
      if (!user) return exchange.send(403, TEXT_TYPE, 'who are you?\n');
      const cookie = `session=${encodeURIComponent(user)}; Path=/; Max-Age=86400; HttpOnly`;
      exchange.send(303, ['location', '/_/members', 'set-cookie', cookie]);
    });
  },
  members({ exchange }) {
    const { session } = cookiesOf(exchange);
    if (session === undefined) return exchange.send(401, TEXT_TYPE, 'log in at /_/login\n');
    sendPage(exchange, `Hello ${decodeURIComponent(session)}`, ['/']);
  },
  auth({ exchange, args }) {
    const expected = `Basic ${Buffer.from(`${args[0]}:${args[1]}`).toString('base64')}`;
    if (exchange.req.headers.authorization === expected) return sendPage(exchange, 'Let in');
    exchange.send(401, [...TEXT_TYPE, 'www-authenticate', 'Basic realm="simweb"'], 'not you\n');
  },
  etag({ exchange, args }) {
    const etag = `"${(args[0] ?? 'first').replace(/[^\w.-]/g, '')}"`;
    const same = exchange.req.headers['if-none-match'] === etag;
    exchange.send(same ? 304 : 200, [...HTML_TYPE, 'etag', etag], same ? undefined : smallPage(`Version ${etag}`));
  },
  'last-modified'({ exchange }) {
    const atMs = Date.UTC(2025, 5, 1);
    const same = Date.parse(exchange.req.headers['if-modified-since'] ?? '') >= atMs;
    const headers = [...HTML_TYPE, 'last-modified', new Date(atMs).toUTCString()];
    exchange.send(same ? 304 : 200, headers, same ? undefined : smallPage('Of June'));
  },
  headers({ exchange }) {
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
  'header-bytes'({ exchange, args }) {
    const value = 'x'.repeat(wholeNumber(args[0], 100, 0, 1_000_000));
    exchange.send(200, [...HTML_TYPE, 'x-large', value], smallPage('Large header'));
  },
} satisfies SpecialAnswers;
