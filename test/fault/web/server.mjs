// The web server of the fault tests, a process of its own: serves the graph, misbehaves as told, and logs each request
// with the time it arrived and the time its answer ended. Node builtins only, and nothing from src/.
// Argument: { plan, latencyMs, seed, logFile } as JSON. Talks over IPC, one answer per message.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { addressOf, createRandom, hostsOf, linksOf, pageAt, titleOf, urlOf } from './graph.mjs';

const { plan, latencyMs, seed, logFile } = JSON.parse(process.argv[2]);
const random = createRandom(seed);
/** `{ host?, every?, rest?, times, act, ms? }`: the first `times` requests of each page it names. */
let rules = [];
const asked = new Map();
const log = [];
let pagesServed = 0;
let port = 0;
const servers = [];
/** When this process last looked at its sockets, and the time before: what it notices now may have happened since then. */
let looked = performance.now();
let lookedBefore = looked;
setInterval(() => {
  lookedBefore = looked;
  looked = performance.now();
}, 2).unref();

function open() {
  return new Promise((resolve, reject) => {
    let waiting = hostsOf(plan);
    const listen = (host) => {
      const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => answer(host, request, response));
      server.once('error', reject);
      server.listen(port, addressOf(plan, host), 1024, () => {
        port ||= server.address().port;
        servers.push(server);
        if (host === 0) for (let other = 1; other < hostsOf(plan); other++) listen(other);
        if (--waiting === 0) resolve();
      });
    };
    listen(0);
  });
}

async function close() {
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.splice(0).map((server) => new Promise((resume) => server.close(resume))));
}

function answer(host, request, response) {
  const entry = { host, path: request.url, at: performance.now(), end: undefined, how: 'open' };
  log.push(entry);
  const ended = (how) => {
    if (entry.how !== 'open') return;
    entry.how = how;
    // Not later than it was: a client that died may have done so before this busy process noticed.
    entry.end = Math.max(entry.at, lookedBefore);
  };
  response.on('close', () => ended('closed'));
  response.on('error', () => undefined);
  if (request.url === '/robots.txt') {
    ended('sent');
    response.end('User-agent: *\nAllow: /\n');
    return;
  }
  const page = pageAt(plan, request.url);
  if (page < 0) {
    ended('sent');
    response.writeHead(404).end();
    return;
  }
  pagesServed++;
  const rule = ruleFor(host, page);
  const html = bodyOf(host, page);
  const waitMs = latencyMs[0] + random() * (latencyMs[1] - latencyMs[0]);
  setTimeout(() => {
    if (rule) return misbehave(rule, response, html, ended);
    // The answer has left when end() is called: what the client sees is never earlier.
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': html.length });
    ended('sent');
    response.end(html);
  }, waitMs);
}

function ruleFor(host, page) {
  const rule = rules.find(
    (one) => (one.host ?? host) === host && page % (one.every ?? 1) === (one.rest ?? 0) && !(one.notRoot && page === 0),
  );
  if (!rule) return undefined;
  const id = `${host} ${page} ${rule.act}`;
  const times = (asked.get(id) ?? 0) + 1;
  asked.set(id, times);
  return times <= rule.times ? rule : undefined;
}

function misbehave({ act, ms }, response, html, ended) {
  const half = html.length >> 1;
  switch (act) {
    case 'hang': // Never answers; the client has to leave.
      return;
    case 'reset':
      ended('closed');
      return response.socket?.resetAndDestroy();
    case 'cut': // Half a body, and the connection ends.
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': html.length });
      return response.write(html.subarray(0, half), () => {
        ended('closed');
        response.socket?.destroy();
      });
    case 'status':
      ended('sent');
      return response.writeHead(503).end('later');
    case 'drip': {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': html.length });
      let sent = 0;
      const timer = setInterval(() => {
        if (response.destroyed || sent >= html.length) {
          clearInterval(timer);
          ended(response.destroyed ? 'closed' : 'sent');
          return response.end();
        }
        response.write(html.subarray(sent, (sent += 1)));
      }, ms);
      return undefined;
    }
    default: {
      // 'script': an endless script for browsers.
      const text = Buffer.from(html.toString().replace('</body>', '<script>for(;;);</script></body>'));
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': text.length });
      ended('sent');
      return response.end(text);
    }
  }
}

function bodyOf(host, page) {
  const title = titleOf(host, page);
  const links = linksOf(plan, host, page).map(([h, p]) => `<a href="${urlOf(plan, port, h, p)}">${h}-${p}</a>`);
  const words = `This is ${title}, and it says so more than once. `.repeat(6);
  return Buffer.from(
    `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>${words}</p>` +
      `<p>${links.join(' ')}</p></body></html>`,
  );
}

const CALLS = {
  served: () => pagesServed,
  behave: ({ rules: next }) => {
    rules = next;
  },
  down: async () => close(),
  up: async () => open(),
  save: () => writeFileSync(logFile, log.map((entry) => `${JSON.stringify(entry)}\n`).join('')),
};

process.on('message', (message) => {
  Promise.resolve(CALLS[message.call](message)).then(
    (value) => process.send({ id: message.id, value }),
    (error) => process.send({ id: message.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
await open();
process.send({ port });
