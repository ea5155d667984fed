// Two kinds of origins for the canary suite: home, over TLS, which a user trusts with secrets, and strangers, to which
// home leads in every way that a page knows. Strangers record every byte they receive.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificates } from '../integration/http-certificates.js';

/** Every canary begins so. */
const CANARY = /canary-[a-z]+/g;
/** As they are, and as what HTTP makes of a password. */
const BASIC = /[A-Za-z0-9+/]{16,}={0,2}/g;

export interface CanaryWeb {
  readonly home: string;
  readonly strangers: readonly string[];
  /** A file with the authority that signed home's certificate. */
  readonly caFile: string;
  /** What home was told, and what strangers were. */
  readonly heardAtHome: string[];
  readonly heardElsewhere: string[];
  /** A proxy that wants a password. */
  readonly proxy: string;
  readonly heardByProxy: string[];
  close(): Promise<void>;
}

/** The canaries in a text, also those inside of Basic credentials. */
export function canariesIn(text: string): string[] {
  const inside = (text.match(BASIC) ?? []).map((part) => Buffer.from(part, 'base64').toString('latin1'));
  return [...new Set([text, ...inside].flatMap((one) => one.match(CANARY) ?? []))].sort();
}

/**
 * What strangers were told that they should not have been. Cookies know no ports, and loopback counts as safe for them:
 * home's cookies may go to its own host, whatever the port.
 */
export function leaks({ heardElsewhere }: CanaryWeb, cookies: readonly string[] = ['canary-session']): string[] {
  return heardElsewhere.filter((told) => {
    const isHomesHost = /^host\n127\.0\.0\.1:/im.test(told);
    return canariesIn(told).some((one) => !(isHomesHost && cookies.includes(one)));
  });
}

/** Files under a folder that have canaries in their name or content, with their modes. */
export function canaryFiles(folder: string): { path: string; mode: string; canaries: string[] }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const info = statSync(join(folder, path));
    const text = info.isFile() ? readFileSync(join(folder, path), 'latin1') : '';
    const canaries = canariesIn(`${path}\n${text}`);
    return canaries.length === 0 ? [] : [{ path, mode: (info.mode & 0o777).toString(8), canaries }];
  });
}

/** Processes that this test started, and theirs, whose lines have canaries: other tests run beside it. */
export function canaryProcesses(): string[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid=,args=', 'ww'], { encoding: 'utf8' }).split('\n');
  const rows = listed.flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid ? [{ pid: Number(pid), parent: Number(parent), line: `${pid} ${args}` }] : [];
  });
  const ours = new Set([process.pid]);
  let before = 0;
  while (before < ours.size) {
    before = ours.size;
    for (const { pid, parent } of rows) if (ours.has(parent)) ours.add(pid);
  }
  return rows
    .filter(({ pid, line }) => ours.has(pid) && canariesIn(line).length > 0 && !/redis-server/.test(line))
    .map(({ line }) => line);
}

async function readAll(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

export async function startCanaryWeb(folder: string): Promise<CanaryWeb> {
  const certificates = makeCertificates();
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, certificates.ca);
  const servers: Server[] = [];
  const heardAtHome: string[] = [];
  const heardElsewhere: string[] = [];
  const heardByProxy: string[] = [];

  async function listen(server: Server, address: string): Promise<number> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    return (server.address() as AddressInfo).port;
  }
  const told = async (request: IncomingMessage): Promise<string> =>
    [`${request.method} ${request.url}`, ...request.rawHeaders, await readAll(request)].join('\n');

  const stranger: RequestListener = async (request, response) => {
    heardElsewhere.push(await told(request));
    if (request.headers.origin) response.setHeader('access-control-allow-origin', request.headers.origin);
    response.setHeader('access-control-allow-credentials', 'true');
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    // Whoever is asked for a password may give one that is another's.
    if (request.url?.startsWith('/private')) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="home"' }).end('who?');
    }
    response.setHeader('content-type', 'text/html');
    response.end('<title>stranger</title><p>text <a href="/more">more</a> <a href="/private">private</a>');
  };
  const strangers = [
    `http://127.0.0.1:${await listen(createServer(stranger), '127.0.0.1')}`,
    `http://127.0.0.2:${await listen(createServer(stranger), '127.0.0.2')}`,
    `https://127.0.0.3:${await listen(createTlsServer(certificates.good, stranger) as never, '127.0.0.3')}`,
  ];

  const ways = (path: string) => strangers.map((url) => `${url}${path}`);
  const all = (make: (url: string) => string, path: string) => ways(path).map(make).join('\n');
  const page = () => `<!doctype html><title>home</title>
    <link rel="stylesheet" href="${strangers[2]}/style.css"><link rel="prefetch" href="${strangers[0]}/prefetch">
    <p>A page of home. ${all((url) => `<a href="${url}">away</a>`, '/link')}
    <a href="/next">next</a> ${strangers.map((_, n) => `<a href="/moved/302/${n}">moved</a> <a href="/moved/307/${n}">moved</a>`).join(' ')}
    <a href="/broken">broken</a></p>
    ${all((url) => `<img src="${url}">`, '/image')} ${all((url) => `<iframe src="${url}"></iframe>`, '/frame')}
    ${all((url) => `<script src="${url}"></script>`, '/script')}
    <form method="post" action="${strangers[0]}/form"><input name="a" value="b"></form>
    <script>for (const url of ${JSON.stringify(ways('/fetched'))}) {
      fetch(url, { credentials: 'include' }).catch(() => 0);
      fetch(url, { method: 'POST', body: 'plain', credentials: 'include' }).catch(() => 0);
      navigator.sendBeacon(url.replace('fetched', 'beacon'), 'plain');
    }</script>`;
  const home: RequestListener = async (request, response) => {
    heardAtHome.push(await told(request));
    const [, status, index] = /^\/moved\/(\d+)\/(\d)/.exec(request.url ?? '') ?? [];
    if (status !== undefined) {
      const location = `${strangers[Number(index)]}/moved`;
      return void response.writeHead(Number(status), { location }).end();
    }
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    if (request.url?.startsWith('/broken')) return void response.writeHead(500).end('broken');
    response.setHeader('set-cookie', 'sid=canary-session; Path=/; Secure; HttpOnly; Max-Age=9999');
    response.setHeader('content-type', 'text/html').end(page());
  };
  const homePort = await listen(createTlsServer(certificates.good, home) as never, '127.0.0.1');

  const proxied = createServer(async (request, response) => {
    heardByProxy.push(await told(request));
    response.writeHead(401, { 'www-authenticate': 'Basic realm="a site"', 'content-type': 'text/html' }).end('<p>x');
  });
  const proxyPort = await listen(proxied, '127.0.0.1');

  return {
    home: `https://127.0.0.1:${homePort}`,
    strangers,
    caFile,
    heardAtHome,
    heardElsewhere,
    heardByProxy,
    proxy: `http://user:canary-proxy@127.0.0.1:${proxyPort}`,
    async close() {
      await Promise.all(
        servers.map((server) => {
          server.closeAllConnections();
          return new Promise((resolve) => server.close(resolve));
        }),
      );
    },
  };
}
