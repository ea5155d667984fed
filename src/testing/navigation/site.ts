// The web that the navigation suite visits: a few hosts on loopback addresses, each with the same pages.
// Every URL carries the name of its case (`c`), redirects pass it on, and the log has every request per host.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The hosts of a case by role: the second number of their addresses. All have the same pages. */
const ROLES = {
  main: 20,
  other: 21,
  /** Excluded by domain rules. */
  excluded: 22,
  /** Has a user agent of its own, by an override. */
  renamed: 23,
  /** Its robots.txt forbids `/forbidden` to all and `/named` to `named-agent`. */
  strict: 24,
} as const;

export type HostRole = keyof typeof ROLES;

export interface AskedPage {
  readonly case: string;
  readonly host: HostRole;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface NavigationSite {
  /** The URL of a page for a case. */
  url(name: string, path: string, host?: HostRole): string;
  /** The addresses of all hosts of a role. */
  addresses(role: HostRole): string[];
  /** The pages requested in a case, in order. */
  asked(name: string): readonly AskedPage[];
  /** Every request of a robots.txt, with its user agent. */
  readonly robots: readonly { readonly url: string; readonly userAgent: string }[];
  close(): Promise<void>;
}

interface Page {
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  /** An absolute URL of the same case. */
  link(path: string, host?: HostRole): string;
  /** How often this page was requested before. */
  readonly before: number;
}

const ROBOTS = 'User-agent: named-agent\nDisallow: /named\n\nUser-agent: *\nDisallow: /forbidden\n';
const CHALLENGE = '<title>Just a moment</title><div id="turnstile-wrapper"></div>';

/** Serves hosts of their own to each case: what one does to a host concerns no other. */
export async function serveNavigationSite(cases: readonly string[]): Promise<NavigationSite> {
  const asked: AskedPage[] = [];
  const robots: { url: string; userAgent: string }[] = [];
  const counts = new Map<string, number>();
  const servers: Server[] = [];
  let port = 0;

  async function answer(host: HostRole, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    if (url.pathname === '/favicon.ico') return void response.writeHead(404).end();
    if (url.pathname === '/robots.txt') {
      robots.push({ url: url.href, userAgent: request.headers['user-agent'] ?? '' });
      if (host === 'strict' || host === 'renamed') return void response.writeHead(200).end(ROBOTS);
      return void response.writeHead(404).end();
    }
    const name = url.searchParams.get('c') ?? '';
    asked.push({ case: name, host, method: request.method ?? '', path: url.pathname, headers: request.headers });
    const key = `${host} ${request.url}`;
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const link = (path: string, to: HostRole = host) => linkTo(name, path, to);
    servePage({ url, request, response, body, link, before });
  }

  const addressOf = (name: string, role: HostRole) => `127.${ROLES[role]}.0.${cases.indexOf(name) + 1}`;

  function linkTo(name: string, path: string, role: HostRole): string {
    const mark = `${path.includes('?') ? '&' : '?'}c=${encodeURIComponent(name)}`;
    return `http://${addressOf(name, role)}:${port}${path}${mark}`;
  }

  for (const host of Object.keys(ROLES) as HostRole[]) {
    for (const name of cases) {
      const server = createServer((request, response) => void answer(host, request, response).catch(() => undefined));
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, addressOf(name, host), resolve);
      });
      ({ port } = server.address() as AddressInfo);
      servers.push(server);
    }
  }

  return {
    url: (name, path, role = 'main') => linkTo(name, path, role),
    addresses: (role) => cases.map((name) => addressOf(name, role)),
    asked: (name) => asked.filter((one) => one.case === name),
    robots,
    close: async () => void (await Promise.all(servers.map(closed))),
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function servePage(page: Page): void {
  const { url, request, response, link, before } = page;
  const [, first = '', second = ''] = url.pathname.split('/');
  const redirect = (location: string, status = 302, headers: Record<string, string> = {}) =>
    response.writeHead(status, { location, ...headers }).end();
  const html = (title: string, more: Record<string, string> = {}, status = 200) =>
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...more })
      .end(`<title>${title}</title><p>This page has words enough to be a page without any scripts.</p>`);
  const cookie = request.headers.cookie ?? '';
  switch (first) {
    case 'hops':
      return void (second === '0' ? html('arrived') : redirect(link(`/hops/${Number(second) - 1}`)));
    case 'to': {
      const to = link(url.searchParams.get('path') ?? '/page', (url.searchParams.get('host') as HostRole) ?? undefined);
      return void redirect(to, Number(url.searchParams.get('status') ?? 302));
    }
    case 'location':
      return void redirect(url.searchParams.get('to') ?? '');
    case 'loop':
      return void redirect(link(second === 'a' ? '/loop/b' : '/loop/a'));
    case 'self':
      return void redirect(link('/self'));
    case 'cookie':
      return void (cookie.includes('seen=1') ? html('cookie kept') : redirect(link('/cookie'), 302, setCookie('seen')));
    case 'walk':
      if (second === 'gate') return void redirect(link('/walk'), 302, setCookie('walked'));
      return void (cookie.includes('walked=1') ? html('walked') : redirect(link('/walk/gate')));
    case 'echo': {
      const { 'x-own': own = '-', 'x-key': key = '-', authorization = '-' } = request.headers;
      return void html(`${request.method} ${page.body || '-'} ${String(own)} ${String(key)} ${authorization}`);
    }
    case 'agent':
      return void html(request.headers['user-agent'] ?? 'nobody');
    case 'status': {
      const after = url.searchParams.get('after');
      return void html(`status ${second}`, after === null ? {} : { 'retry-after': after }, Number(second));
    }
    case 'flaky': {
      const after = url.searchParams.get('after');
      const times = Number(url.searchParams.get('times') ?? 1);
      if (before >= times) return void html('recovered');
      return void html(`status ${second}`, after === null ? {} : { 'retry-after': after }, Number(second));
    }
    case 'type':
      return void response.writeHead(Number(second || 200), { 'content-type': url.searchParams.get('type')! }).end('1');
    case 'challenge':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(CHALLENGE);
    case 'reset':
      return void request.socket.destroy();
    case 'slow':
      return;
    case 'large':
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<title>large</title>${'x'.repeat(300_000)}`);
    default:
      return void html(first);
  }
}

function setCookie(name: string): Record<string, string> {
  return { 'set-cookie': `${name}=1; path=/` };
}
