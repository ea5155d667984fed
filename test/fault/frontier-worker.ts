// A process that the frontier's fault tests kill: adds, leases and settles without end, and says what was confirmed.
// Each line on stdout is a fact that must outlive it. Arguments: folder, access, holder, role, pages.
import { writeSync } from 'node:fs';
import type { Settlement } from '../../src/frontier/frontier.js';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { entry } from '../../src/testing/conformance/bench.js';

const [folder, access, holder, role, pages] = process.argv.slice(2) as [
  string,
  'owner' | 'shared',
  string,
  string,
  string,
];
const nap = new Int32Array(new SharedArrayBuffer(4));

/** Written before it returns: what is said has left this process even if it dies the next instant. */
function say(...facts: (string | number)[]): void {
  let rest = Buffer.from(`${facts.join(' ')}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(nap, 0, 0, 1); // the pipe is full
    }
  }
}

const wanted = Number(pages);
const frontier = await openLmdbFrontier(folder, { access, holder, pacing: { delayMs: 0, turns: 20 } });
const { counters } = await frontier.overview();
say('open', counters.accepted, counters.leased);
let call = 0;
let added = counters.accepted;
for (;;) {
  if (role === 'crawl' && added < wanted) {
    const numbers = Array.from({ length: Math.min(50, wanted - added) }, (_, i) => added + i);
    const entries = numbers.map((n) => entry(`page ${n}`, `site-${n % 7}`));
    await frontier.add({ holder, call: ++call, entries });
    added += numbers.length;
    say('added', added);
  }
  const { leases, state } = await frontier.lease({ holder, call: ++call, max: 30 });
  for (const { record, id } of leases) say('leased', record.slice(5), id);
  if (state === 'exhausted' && (await frontier.overview()).counters.accepted >= wanted) break;
  const half = Math.ceil(leases.length / 2);
  const settlements = leases.map(({ id }, i): Settlement =>
    i < half ? { kind: 'done', lease: id } : { kind: 'retry', afterMs: 0, lease: id },
  );
  const settled = { length: String(call) };
  const answer = await frontier.settle({
    holder,
    call: ++call,
    settlements,
    landings: leases.map(({ id }) => ({ lease: id })),
    notes: settled,
  });
  leases.forEach(({ record, id }, i) => {
    if (i < half && answer.accepted[i]) say('done', record.slice(5), id);
  });
  if (leases.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
say('exhausted');
await frontier.close();
