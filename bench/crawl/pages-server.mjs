// The real pages as a web on loopback, in a process of its own: each host 127.0.0.x serves the same site over HTTP,
// where connections are kept, and over HTTPS, where each response ends its connection as in a crawl of many hosts.
// node pages-server.mjs FOLDER HOSTS MAX_PAGES; tells its parent where it listens and ends with it.
import http from 'node:http';
import https from 'node:https';
import { createJiti } from 'jiti';
import { readSite } from './real-pages.mjs';

// Not part of what dist/ exports.
const { createCertificate } = await createJiti(import.meta.url).import('../../src/testing/simweb-certificate.ts');
const [, , folder, hosts, maxPages] = process.argv;
const site = readSite(folder, Number(maxPages));
const addresses = Array.from({ length: Number(hosts) }, (_, host) => `127.0.0.${host + 1}`);
let connections = 0;

function answer(keepAlive) {
  return ({ url }, response) => {
    const body = url.startsWith('/p/') ? site[Number(url.slice(3))] : undefined;
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

const certificate = createCertificate(addresses);
const plain = http.createServer({ keepAliveTimeout: 60_000 }, answer(true));
const secure = https.createServer(certificate, answer(false));
const listening = [plain, secure].map(
  (server) =>
    new Promise((resolve, reject) => {
      server.on('connection', () => connections++);
      server.once('error', reject);
      server.listen(0, '0.0.0.0', () => resolve(server.address().port));
    }),
);
const [httpPort, httpsPort] = await Promise.all(listening);
process.on('message', () => {
  process.send({ kind: 'connections', connections });
  connections = 0;
});
process.on('disconnect', () => process.exit(0));
process.send({ kind: 'started', httpPort, httpsPort, pages: site.length, certificate: certificate.cert });
