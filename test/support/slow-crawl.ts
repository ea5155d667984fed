// A crawler with few slots and little patience for slow hosts, and a web of them that ends with its test.
import { onTestFinished } from 'vitest';
import { CheerioCrawler, type CheerioCrawlerOptions } from '../../src/index.js';
import { memoryConfig, silent } from './crawl.js';
import { type SlowWeb, type SlowWebOptions, startSlowWeb } from './slow-web.js';

export const SLOTS = 30;
export const PATIENCE = { slowHostPatienceSecs: 0.5 };

export async function web(options: SlowWebOptions): Promise<SlowWeb> {
  const started = await startSlowWeb(options);
  onTestFinished(() => started.close());
  return started;
}

export function crawlerOf(options: CheerioCrawlerOptions): CheerioCrawler {
  const crawler = new CheerioCrawler(
    {
      log: silent,
      allowPrivateAddresses: true,
      minConcurrency: SLOTS,
      maxConcurrency: SLOTS,
      ...PATIENCE,
      requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
      ...options,
    },
    memoryConfig(),
  );
  return crawler;
}
