// The real pages as a web on loopback, in a process of its own: each host 127.0.x.y serves the same site over HTTP,
// where connections are kept, and over HTTPS, where each response ends its connection as in a crawl of many hosts.
// node pages-server.mjs FOLDER HOSTS MAX_PAGES [WEB]; reports its address to its parent and ends with it. WEB is JSON:
// `variants` makes the hosts one web (real-pages.mjs), `tickets: false` makes every handshake a full one.
import { constants } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { createJiti } from 'jiti';
import { readSite } from './real-pages.mjs';

// Not part of what dist/ exports.
const { createCertificate } = await createJiti(import.meta.url).import('../../src/testing/simweb/certificate.ts');
const [, , folder, hosts, maxPages, web = '{}'] = process.argv;
const { variants, tickets = true } = JSON.parse(web);
const addresses = Array.from({ length: Number(hosts) }, (_, n) => `127.0.${Math.floor(n / 250)}.${(n % 250) + 1}`);
/** A certificate of the web names a few of its hosts, as certificates do; of a site alone all of them. */
const NAMES_A_CERTIFICATE = variants === undefined ? addresses.length : 16;
let site = [];
let connections = 0;
let resumed = 0;

function answer(keepAlive) {
  return ({ url }, response) => {
    const body = url.startsWith('/p/') ? site[Number.parseInt(url.slice(3), 10)] : undefined;
    if (!keepAlive) response.setHeader('connection', 'close');
    if (!body) {
      response.writeHead(404, { 'content-type': 'text/html', 'content-length': 0 }).end();
      return;
    }
    response
      .writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-encoding': 'gzip',
        'content-length': body.length,
      })
      .end(body);
  };
}

const certificates = [];
const serverOf = new Map();
for (let from = 0; from < addresses.length; from += NAMES_A_CERTIFICATE) {
  const named = addresses.slice(from, from + NAMES_A_CERTIFICATE);
  const certificate = createCertificate(named, `orcrawl bench ${from}`);
  const secureOptions = tickets ? 0 : constants.SSL_OP_NO_TICKET;
  const server = https.createServer({ ...certificate, secureOptions }, answer(false));
  server.on('secureConnection', (socket) => {
    if (socket.isSessionReused()) resumed++;
  });
  for (const address of named) serverOf.set(address, server);
  certificates.push(certificate.cert);
}
const plain = http.createServer({ keepAliveTimeout: 60_000 }, answer(true));
// One port for all hosts; the address that a connection came in at tells which of them is meant.
const secure = net.createServer((socket) => {
  const server = serverOf.get(socket.localAddress);
  if (server) server.emit('connection', socket);
  else socket.destroy();
});
const listening = [plain, secure].map(
  (server) =>
    new Promise((resolve, reject) => {
      server.on('connection', () => connections++);
      server.once('error', reject);
      server.listen({ port: 0, host: '0.0.0.0', backlog: 1_024 }, () => resolve(server.address().port));
    }),
);
const [httpPort, httpsPort] = await Promise.all(listening);
const origins = addresses.map((address) => `https://${address}:${httpsPort}`);
site = readSite(folder, Number(maxPages), variants === undefined ? undefined : { origins, variants });
process.on('message', () => {
  process.send({ kind: 'connections', connections, resumed });
  connections = resumed = 0;
});
process.on('disconnect', () => process.exit(0));
process.send({ kind: 'started', httpPort, httpsPort, pages: site.length, certificate: certificates.join('') });
