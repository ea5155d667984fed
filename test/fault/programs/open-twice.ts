// Opens a queue again and again while the same process works on it: prints how often it was refused.
import { CrawlError } from '../../../src/errors.js';
import { openLmdbFrontier } from '../../../src/frontier/embedded/store/lmdb.js';
import { fingerprintOf } from '../../../src/request/fingerprint.js';

const [path = ''] = process.argv.slice(2);
const open = (holder: string, access: 'owner' | 'shared') =>
  openLmdbFrontier(path, { access, holder, pacing: { delayMs: 0, turns: 10 } });
const owner = await open('first', 'owner');
let isDone = false;
const working = (async () => {
  for (let call = 1; !isDone; call++) {
    const entry = { fingerprint: fingerprintOf(String(call)), domain: 'a.example', record: String(call) };
    await owner.add({ holder: 'first', call, entries: [entry] });
  }
})();
let refused = 0;
for (let n = 0; n < 40; n++) {
  await open(`other ${n}`, n % 2 === 0 ? 'owner' : 'shared').catch((error: unknown) => {
    if (error instanceof CrawlError && error.code === 'QUEUE_IN_USE') refused++;
  });
}
isDone = true;
await working;
await owner.close();
process.stdout.write(`${refused}\n`);
