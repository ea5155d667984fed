// Faults of the web itself, on every placement that fetches over HTTP: servers that hang, drip, reset, cut, refuse, go away.
import type { Bench, FaultClass, Misbehaviour, Web } from './bench.js';
import { batchCrawl, podsCrawl, scriptCrawl } from './crawls.js';

/** Runs the crawl while `trouble` happens; each page is answered well in the end. */
type Crawl = (bench: Bench, web: Web) => Promise<{ run(): Promise<void> }>;

const CRAWLS: Readonly<Record<'pods' | 'library' | 'batch', Crawl>> = {
  async pods(bench, web) {
    const crawl = await podsCrawl(bench, { web, more: { http_timeout_seconds: 2 } });
    return { run: () => crawl.whole(crawl.run()) };
  },
  async library(bench, web) {
    const crawl = await scriptCrawl(bench, { web, navigationTimeoutSecs: 2 });
    return { run: () => crawl.whole(crawl.run()) };
  },
  async batch(bench, web) {
    const crawl = await batchCrawl(bench, web, ['--timeout', '2', '--retries', '2']);
    return {
      // A visit that used up its time is not tried again: the next run does, as the exit code says.
      async run() {
        const code = await crawl.run().ended();
        bench.expect(code === 0 || code === 2, `exit 0 or 2 expected, not ${code}`);
        if (code !== 0) await crawl.whole(crawl.run());
      },
    };
  },
};

const TROUBLES: Readonly<Record<string, readonly Misbehaviour[]>> = {
  hangs: [{ every: 5, rest: 3, times: 1, act: 'hang' }],
  drips: [{ every: 5, rest: 2, times: 1, act: 'drip', ms: 40 }],
  resets: [{ every: 3, rest: 1, times: 1, act: 'reset' }],
  cuts: [{ every: 3, rest: 2, times: 1, act: 'cut' }],
  'is-overloaded': [{ every: 7, rest: 4, times: 1, act: 'status' }],
};

export const servers: readonly FaultClass[] = (['pods', 'library', 'batch'] as const).flatMap((placement) => [
  ...Object.entries(TROUBLES).map(([name, rules]): FaultClass => ({
    name: `${placement}/server-${name}`,
    placement,
    ...(placement === 'pods' ? { needs: ['redis'] } : {}),
    ...(placement === 'library' && name === 'cuts' ? { inCi: 'sample' } : {}),
    async act(bench) {
      const web = await bench.web();
      await web.behave(...rules);
      await (await CRAWLS[placement](bench, web)).run();
    },
  })),
  {
    name: `${placement}/server-away`,
    placement,
    ...(placement === 'pods' ? { needs: ['redis'] } : {}),
    async act(bench): Promise<void> {
      const web = await bench.web();
      const crawl = await CRAWLS[placement](bench, web);
      const running = crawl.run();
      await web.untilServed(60 + Math.floor(bench.random() * 100));
      await web.call('down');
      await bench.pause(400);
      await web.call('up');
      await running;
    },
  } satisfies FaultClass,
]);
