// The ceiling: undici's dispatcher, one gunzipSync, the byte scanner, a Set of what was seen, items into one file.
// With `order.gzipLevel` the texts instead, each compressed, as in a segment.
// No durability, retries, sessions, limits or politeness: what a crawler costs beyond this is its bookkeeping.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { scanPage } from '../../dist/index.js';
import { order, reportCost } from './contestant.mjs';

const { seeds, concurrency, folder, gzipLevel } = order;

function fetchBody(agent, origin, path) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    agent.dispatch(
      { origin, path, method: 'GET', headers: { 'accept-encoding': 'gzip' } },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, headers) {
          if (statusCode !== 200 || headers['content-encoding'] !== 'gzip') reject(new Error(`${path}: ${statusCode}`));
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          resolve(gunzipSync(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
  });
}

async function crawl() {
  const agent = new Agent({ connections: concurrency });
  const items = createWriteStream(join(folder, 'items.jsonl'));
  const seen = new Set(seeds);
  const queue = [...seeds];
  let next = 0;
  let pages = 0;
  let active = 0;
  await new Promise((resolve, reject) => {
    async function visit(url) {
      const slash = url.indexOf('/', 8);
      const origin = url.slice(0, slash);
      const body = await fetchBody(agent, origin, url.slice(slash));
      const { title, text, links } = scanPage(body, { url, contentType: 'text/html; charset=utf-8' });
      if (gzipLevel === undefined) items.write(`${JSON.stringify({ url, title, text })}\n`);
      else items.write(gzipSync(text, { level: gzipLevel }));
      for (const link of links) {
        if (link.element !== 'a' || !link.url.startsWith(origin) || link.url[slash] !== '/') continue;
        const hashAt = link.url.indexOf('#');
        const target = hashAt < 0 ? link.url : link.url.slice(0, hashAt);
        if (seen.has(target)) continue;
        seen.add(target);
        queue.push(target);
      }
      pages++;
      active--;
      fill();
    }
    function fill() {
      while (active < concurrency && next < queue.length) {
        active++;
        visit(queue[next++]).catch(reject);
      }
      if (active === 0) resolve();
    }
    fill();
  });
  await new Promise((resolve) => items.end(resolve));
  await agent.close();
  return pages;
}

await reportCost(crawl);
