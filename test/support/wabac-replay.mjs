// Loads a WACZ file with @webrecorder/wabac, as a replay page does in a browser, and prints the pages that it lists and what
// it gives for each URL and time. Arguments: the file, and a JSON list of { url, ts }.
import 'fake-indexeddb/auto';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , file, wishes] = process.argv;
// What it expects of a service worker.
globalThis.self ??= globalThis;
globalThis.location ??= new URL('http://localhost/');
globalThis.registration ??= { scope: 'http://localhost/' };
globalThis.addEventListener ??= () => undefined;

/** The file, range by range. */
const { size } = statSync(file);
const server = createServer(({ headers, method }, response) => {
  const [, from, to] = /bytes=(\d*)-(\d*)/.exec(headers.range ?? '') ?? [];
  const start = from === undefined ? 0 : from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === undefined || from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to));
  if (start > end) return response.writeHead(416).end();
  response.writeHead(headers.range ? 206 : 200, {
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    ...(headers.range ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
  });
  if (method === 'HEAD') return response.end();
  return createReadStream(file, { start, end }).pipe(response);
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));

const print = console.log;
console.log = console.warn = () => undefined;
const { ArchiveRequest, WorkerLoader } = await import('@webrecorder/wabac/swlib');
const loader = new WorkerLoader(globalThis);
await loader._init_db;
const sourceUrl = `http://127.0.0.1:${server.address().port}/all.wacz`;
const added = await loader.addCollection({ name: 'all', file: { sourceUrl } }, () => undefined);
const { store } = added.store ? added : await loader.loadColl('all');
const pages = await store.getAllPages();
const found = [];
for (const { url, ts } of JSON.parse(wishes)) {
  const request = new ArchiveRequest(url, new Request(url), { ts });
  const event = { waitUntil: () => undefined };
  const response = await store.getResource(request, 'http://localhost/w/all/', event, { noRedirect: true });
  const body = response && Buffer.from((await response.getBuffer()) ?? []).toString();
  found.push({ url, ts, status: response?.status, body });
}
print(JSON.stringify({ pages: pages.map(({ url }) => url), found }));
process.exit(0);
