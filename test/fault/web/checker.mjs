// Judges one crawl under faults from what the server logged and what lies on disk: lost, doubled, early, hung, damaged.
// Node builtins only, and nothing from src/. Argument: a case file (JSON, see suite/case.ts); prints the verdict as JSON.
import { readFileSync } from 'node:fs';
import { reachable, titleOf, urlOf } from './graph.mjs';
import { readBatch, readContent, readItems } from './reader.mjs';

/** Timers of two processes are rounded; a connection that the client closed is closed a little later. */
const ROUNDING_MS = 1;
const CLOSING_MS = 5;

const facts = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { plan, port, delayMs, stores, runs } = facts;
const damage = [];
const excused = new Set(facts.excused.map(([host, page]) => urlOf(plan, port, host, page)));
const titles = new Map(reachable(plan).map(([host, page]) => [urlOf(plan, port, host, page), titleOf(host, page)]));
const requests = readFileSync(facts.logFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

const missing = new Map();
const doubled = [];
let stored = 0;
for (const { kind, paths } of stores) {
  const read = { items: readItems, batch: readBatch, content: readContent }[kind];
  const counts = new Map();
  for (const { url, title } of paths.flatMap((path) => read(path, damage))) {
    counts.set(url, (counts.get(url) ?? 0) + 1);
    if (!titles.has(url)) damage.push(`${kind}: ${url} is not a page of this web`);
    else if (title !== titles.get(url)) damage.push(`${kind}: ${url} holds "${title}"`);
  }
  for (const [url, count] of counts) if (count > 1) doubled.push(`${kind}: ${url} × ${count}`);
  for (const url of titles.keys()) if (!counts.has(url) && !excused.has(url)) missing.set(url, kind);
  stored = Math.max(stored, counts.size);
}

const last = runs.filter(({ end }) => end !== 'killed').at(-1);
const claimsWhole = last?.code === 0;
const isSaid = !claimsWhole && last?.end === 'itself' && `${last.stdout}${last.stderr}`.trim() !== '';
const isLossAllowed = facts.mayBeIncomplete && isSaid;
const early = delayMs > 0 ? earlyOnes() : [];
const hung = runs.filter(({ end }) => end === 'hung').map(({ name }) => name);
const pageRequests = requests.filter(({ path }) => path !== '/robots.txt');

console.log(
  JSON.stringify({
    pages: titles.size,
    stored,
    lost: isLossAllowed ? 0 : missing.size,
    saidMissing: isLossAllowed ? missing.size : 0,
    doubled: doubled.length,
    early: early.length,
    hung: hung.length,
    // An end that is incomplete and does not say so, or that says so in no words.
    unsaid: missing.size > 0 && !isSaid ? 1 : 0,
    damaged: damage.length,
    requests: pageRequests.length,
    refetched: pageRequests.length - new Set(pageRequests.map(({ host, path }) => `${host} ${path}`)).size,
    examples: [
      ...[...missing].slice(0, 3).map(([url, kind]) => `missing in ${kind}: ${url}`),
      ...doubled.slice(0, 3).map((text) => `doubled: ${text}`),
      ...early.slice(0, 3),
      ...hung.map((name) => `hung: ${name}`),
      ...damage.slice(0, 3),
    ],
  }),
);

/** Requests that came to a host less than the delay after the end of an answer before them. */
function earlyOnes() {
  const found = [];
  const ends = new Map();
  for (const entry of requests) {
    // Part of a page, which Chromium asks for by itself and no crawler can hold back.
    if (entry.path === '/favicon.ico') continue;
    const before = ends.get(entry.host);
    if (before) {
      const tolerated = before.how === 'sent' ? ROUNDING_MS : CLOSING_MS;
      const gapMs = entry.at - (before.end ?? Infinity);
      if (gapMs < delayMs - tolerated) {
        found.push(`early: ${gapMs.toFixed(1)} ms, ${JSON.stringify(entry)} after ${JSON.stringify(before)}`);
      }
    }
    // An answer that never ended holds its host for ever.
    if (!before || (entry.end ?? Infinity) > (before.end ?? Infinity)) ends.set(entry.host, entry);
  }
  return found;
}
