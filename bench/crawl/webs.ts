// The webs that are crawled, each in a process of its own on the last core, so that the crawler has the first to itself.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSimwebProcess } from '../../dist/testing/index.js';

export type Scheme = 'http' | 'https';
export type WebName = 'simweb' | 'pages';

/** A web that is up, and where a crawl of it starts. */
export interface Web {
  readonly title: string;
  readonly hosts: number;
  readonly pagesPerHost: number;
  /** A file with the certificate to trust, over HTTPS. */
  readonly caFile: string | undefined;
  seeds(): string[];
  close(): Promise<void>;
}

/** The real pages on many hosts that link to each other: what a broad crawl meets. */
export interface BroadWeb extends Web {
  /** Connections since the last call, and how many of them resumed a TLS session. */
  connections(): Promise<{ connections: number; resumed: number }>;
}

const PAGES = fileURLToPath(new URL('../../../shared/data/pages/', import.meta.url));
const SERVER = fileURLToPath(new URL('./pages-server.mjs', import.meta.url));
const START_TIMEOUT_MS = 30_000;

/** Pinning needs two cores and util-linux's taskset; without them the figures hold, only less steadily. */
export const canPin = os.cpus().length > 1 && spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;
export const CRAWLER_CORE = 0;
const SERVER_CORE = os.cpus().length - 1;

function pinServer(pid: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(SERVER_CORE), String(pid)], { stdio: 'ignore' });
}

export const hasRealPages = existsSync(PAGES);

function keepCertificate(certificate: string | undefined): { caFile: string | undefined; forget(): void } {
  if (certificate === undefined) return { caFile: undefined, forget: () => undefined };
  const folder = mkdtempSync(join(os.tmpdir(), 'orcrawl-bench-ca-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, certificate);
  return { caFile, forget: () => rmSync(folder, { recursive: true, force: true }) };
}

async function startSimweb(scheme: Scheme, hosts: number, pagesPerHost: number): Promise<Web> {
  const web = await startSimwebProcess({
    hosts,
    pagesPerHost,
    ...(scheme === 'https' && { tls: true, keepAlive: false }),
  });
  pinServer(web.pid);
  const { caFile, forget } = keepCertificate(web.certificate);
  return {
    title: `synthetic web, ${scheme.toUpperCase()}`,
    hosts,
    pagesPerHost,
    caFile,
    seeds: () => Array.from({ length: hosts }, (_, host) => web.url(host)),
    async close() {
      forget();
      await web.close();
    },
  };
}

interface Started {
  httpPort: number;
  httpsPort: number;
  pages: number;
  certificate: string;
}

async function startServer(hosts: number, maxPages: number, web: object): Promise<[ChildProcess, Started]> {
  const child = fork(SERVER, [PAGES, String(hosts), String(maxPages), JSON.stringify(web)], { execArgv: [] });
  const started = await new Promise<Started>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server of the real pages ended with ${code}`)));
    child.once('message', (message) => {
      clearTimeout(timer);
      resolve(message as Started);
    });
  });
  pinServer(child.pid!);
  return [child, started];
}

async function startPages(scheme: Scheme, hosts: number, maxPages: number, web = {}): Promise<BroadWeb> {
  const [child, started] = await startServer(hosts, maxPages, web);
  const { caFile, forget } = keepCertificate(scheme === 'https' ? started.certificate : undefined);
  const port = scheme === 'https' ? started.httpsPort : started.httpPort;
  return {
    title: `real pages, ${scheme.toUpperCase()}`,
    hosts,
    pagesPerHost: started.pages,
    caFile,
    seeds: () =>
      Array.from({ length: hosts }, (_, n) => `${scheme}://127.0.${Math.floor(n / 250)}.${(n % 250) + 1}:${port}/p/0`),
    connections: () =>
      new Promise((resolve) => {
        child.once('message', resolve as (message: unknown) => void);
        child.send('count');
      }),
    async close() {
      forget();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await ended;
    },
  };
}

/** Each page has `variants` URLs on each host; without tickets every handshake is a full one. */
export function startBroadWeb(hosts: number, web: { variants: number; tickets: boolean }): Promise<BroadWeb> {
  return startPages('https', hosts, Infinity, web);
}

/** 24 × 130 real pages and 20 × 150 synthetic ones: a crawl long enough that starting it is a small part. */
export function startWeb(name: WebName, scheme: Scheme, smoke: boolean, hosts?: number): Promise<Web> {
  if (name === 'simweb') return startSimweb(scheme, hosts ?? (smoke ? 2 : 20), smoke ? 40 : 150);
  return startPages(scheme, hosts ?? (smoke ? 2 : 24), smoke ? 30 : Infinity);
}
