// Puts a synthetic web together behind its sockets. Loaded by `Simweb.start`, not before: importing orcrawl
// must stay cheap, and most programs never start a synthetic web.
import type { LookupFunction } from 'node:net';
import { addressOf, createNameReader } from '../addresses.js';
import type { Ports } from '../addresses.js';
import { createPageChanges, type PageChanges } from '../changes.js';
import { createBodies } from '../pages/bodies.js';
import { createCertificate } from '../certificate.js';
import { openExchange } from '../exchange.js';
import type { SimwebOptions, SimwebPlan } from '../knobs.js';
import { createRequestLog } from '../log.js';
import type { RequestLog } from '../log.js';
import { planSimweb } from '../options.js';
import { createPageMaker } from '../pages/pages.js';
import { TEXT_TYPE } from '../reply.js';
import { createResponder } from '../respond.js';
import type { ServedAnswer } from '../respond.js';
import { createSiteFiles } from '../pages/robots.js';
import { openServer } from '../server.js';
import type { ServerUse, SimwebServer } from '../server.js';
import { createWebState } from '../state.js';
import type { WebState } from '../state.js';
import { createUrls } from '../pages/urls.js';
import type { SimwebUrls } from '../pages/urls.js';

// A certificate names its hosts; more than this would make every handshake heavy.
const MAX_CERTIFIED_HOSTS = 250;

function keyFor(plan: SimwebPlan): { key: string; cert: string } | undefined {
  if (plan.tls === false) return undefined;
  if (plan.tls !== true) return plan.tls;
  if (plan.addressing === 'names') {
    const names = Array.from({ length: Math.min(plan.hosts, MAX_CERTIFIED_HOSTS) }, (_, n) =>
      plan.hostName.replace('{n}', String(n)),
    );
    return createCertificate([...names, '127.0.0.1']);
  }
  return createCertificate(Array.from({ length: Math.min(plan.hosts, MAX_CERTIFIED_HOSTS) }, (_, n) => addressOf(n)));
}

/** The parts of a running web that its public face speaks to. */
export interface Inside {
  readonly server: SimwebServer;
  readonly urls: SimwebUrls;
  readonly log: RequestLog;
  readonly state: WebState;
  readonly changes: PageChanges;
  /** The test's own answers, by host and path. */
  serve(path: string, answer: ServedAnswer, host: number | undefined): void;
  readonly lookup: LookupFunction;
  readonly cert: string | undefined;
}

const servedKey = (host: number | undefined, path: string): string => `${host ?? '*'} ${path}`;

/** Everything behind the sockets: the site, its state and log, and how a request is answered. */
function build(plan: SimwebPlan, ports: Ports): { parts: Omit<Inside, 'server' | 'cert'>; use: ServerUse } {
  const { urls, site } = createUrls(plan, ports);
  const state = createWebState();
  const served = new Map<string, ServedAnswer>();
  const log = createRequestLog({ hosts: plan.hosts, maxEntries: plan.maxLogEntries, pagePath: site.path });
  const pages = createPageMaker(plan, site);
  const changes = createPageChanges({ plan, startMs: Date.now(), state, sourceOf: site.sourceOf });
  const respond = createResponder({
    plan,
    map: site,
    pages,
    bodies: createBodies(pages, plan.cacheBytes),
    files: createSiteFiles({ plan, map: site, pages, changes }),
    state,
    changes,
    served: (host, path) =>
      served.size === 0 ? undefined : (served.get(servedKey(host, path)) ?? served.get(servedKey(undefined, path))),
  });

  const use: ServerUse = {
    onRequest(req, res, host, connection) {
      const target = req.url ?? '/';
      const question = target.indexOf('?');
      const path = question < 0 ? target : target.slice(0, question);
      const page = host >= 0 ? site.pageAt(path) : -1;
      const exchange = openExchange(req, res, log, { host, page, path, connection });
      try {
        respond(exchange, page);
      } catch (error) {
        // A malformed argument of a special path must not end the server.
        if (res.headersSent) res.destroy();
        else exchange.send(400, TEXT_TYPE, `${String(error)}\n`);
      }
    },
    onConnection(socket, host, connection) {
      if (site.host(host).fault !== 'reset') return false;
      const ticket = log.begin({ host, page: -1, path: '', method: '(connect)', connection, headers: {} });
      log.end(ticket, host, 0);
      socket.resetAndDestroy();
      return true;
    },
  };
  const serve = (path: string, answer: ServedAnswer, host: number | undefined): void =>
    void served.set(servedKey(host, path), answer);
  return { parts: { urls, log, state, changes, serve, lookup: createLookup(plan) }, use };
}

/** Resolves the web's own names to loopback and no others. */
function createLookup(plan: SimwebPlan): LookupFunction {
  const hostOf = createNameReader(plan);
  return (hostname, options, done) => {
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
    if (hostOf(hostname) < 0) process.nextTick(done, error, '', 4);
    else if (options.all) process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }]);
    else process.nextTick(done, null, '127.0.0.1', 4);
  };
}

export async function openSimweb(options: SimwebOptions): Promise<Inside> {
  const plan = planSimweb(options);
  const key = keyFor(plan);
  let parts: Omit<Inside, 'server' | 'cert'> | undefined;
  const server = await openServer(plan, key, (ports) => {
    const built = build(plan, ports);
    parts = built.parts;
    return built.use;
  });
  return { ...(parts as Omit<Inside, 'server' | 'cert'>), server, cert: key?.cert };
}
