// 60 hosts that hang or drip beside 40 healthy ones on 30 slots, with default timeouts and default patience: how long the
// healthy pages take in library, batch and pods, beside the same crawl without the slow hosts, and without the share.
import { CheerioCrawler, Configuration, Log, LogLevel, SemaphoreDispatcher, WebCrawler } from '../../dist/index.js';
import { timeOnPods } from '../../test/support/slow-pods.js';
import { healthyMs, type SlowWeb, type SlowWebOptions, startSlowWeb } from '../../test/support/slow-web.js';
import type { Figure } from '../measure.js';

const SLOTS = 30;
const SLOW = 60;
const LIMIT_MS = 300_000;
const PODS = { healthy: 40, pages: 22, latencyMs: 200, slots: SLOTS, delaySecs: 1, limit: LIMIT_MS };
/** As many pages as 30 slots fetch in 27 s: every slot that slow hosts hold is missed. */
const FULL = { healthy: 40, pages: 100, latencyMs: 200 };

type Time = (web: Partial<SlowWebOptions> & { slow: number }, share?: number) => Promise<number>;

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [place, time] of [
    ['pods, 1 s between two requests of a host', onPods],
    ['library, no delays: all slots in use', inLibrary],
    ['batch, no delays: all permits in use', inBatch],
  ] as const) {
    const aloneMs = await time({ slow: 0 });
    for (const manner of ['hang', 'drip'] as const) {
      const ms = await time({ slow: SLOW, manner });
      const what = `${place}: healthy pages beside ${SLOW} hosts that ${manner}`;
      figures.push({ what, measured: compared(ms, aloneMs), goal: '≤ 1.5 ×' });
    }
    const ms = await time({ slow: SLOW, manner: 'hang' }, 1);
    figures.push({ what: `${place}: the same with slowHostShare 1`, measured: compared(ms, aloneMs), goal: '' });
  }
  return figures;
}

function compared(ms: number, aloneMs: number): string {
  const secs = (value: number) => (value / 1_000).toFixed(1);
  return `${(ms / aloneMs).toFixed(2)} × (${secs(aloneMs)} → ${secs(ms)} s)`;
}

const onPods: Time = (web, share) =>
  timeOnPods({ ...PODS, ...web, more: share === undefined ? [] : [`slow_host_share: ${share}`] });

const inLibrary: Time = (options, slowHostShare) =>
  inWeb(options, async (web) => {
    const crawler = new CheerioCrawler(
      {
        ...{ log: new Log({ level: LogLevel.OFF }), allowPrivateAddresses: true, slowHostShare },
        ...{ minConcurrency: SLOTS, maxConcurrency: SLOTS },
        requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
      },
      new Configuration({ persistStorage: false }),
    );
    const startedMs = performance.now();
    const run = crawler.run([...web.slowSeeds, ...web.healthySeeds]);
    const ms = await healthyMs(web, startedMs, LIMIT_MS);
    await crawler.teardown();
    await run.catch(() => undefined);
    return ms;
  });

const inBatch: Time = (options, slowHostShare) =>
  inWeb(options, async (web) => {
    const crawler = await WebCrawler.open({ allowPrivateAddresses: true, slowHostShare });
    const healthy = web.healthySeeds.flatMap((seed) =>
      Array.from({ length: FULL.pages }, (_, page) => new URL(`/${page}`, seed).href),
    );
    const startedMs = performance.now();
    const results = crawler.runMany([...web.slowSeeds, ...healthy], {}, new SemaphoreDispatcher({ permits: SLOTS }));
    const run = Promise.resolve(results).catch(() => undefined);
    const ms = await healthyMs(web, startedMs, LIMIT_MS);
    await crawler.close();
    await run;
    return ms;
  });

async function inWeb(options: Parameters<Time>[0], time: (web: SlowWeb) => Promise<number>): Promise<number> {
  const web = await startSlowWeb({ ...FULL, ...options });
  try {
    return await time(web);
  } finally {
    await web.close();
  }
}
