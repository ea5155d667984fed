// Entry of a process of `batch --processes`: visits what it leases and sends results, until told to close or until the
// channel closes: no orphans. Ctrl-C is for whoever has the list.
import { simhashOfResult } from '../../../crawl/batch/copies.js';
import type { FromVisitor, ToVisitor } from '../../../crawl/batch/processes/messages.js';
import { createVisitor } from '../../../crawl/batch/processes/visitor.js';
import { workOn } from '../../../base/loop-watch/visit-marks.js';
import { asCrawlError } from '../../../errors.js';
import { WebCrawler } from '../../../index.js';
import { dispatcherOf } from '../dispatcher.js';
import { sentResult } from '../result-view.js';
import { lackIn } from '../run.js';
import { told, type ToldResult, type VisitorSettings } from './settings.js';

/** Whatever hangs while closing does not keep the process. */
const CLOSE_MS = 10_000;

function tell(message: FromVisitor<ToldResult>): void {
  if (process.connected) process.send!(message, undefined, undefined, () => undefined);
}

async function visitAll(settings: VisitorSettings): Promise<void> {
  const { config, crawler: options, permits, wanted } = settings;
  const crawler = await WebCrawler.open({ maxConnections: permits, ...options });
  close = () => crawler.close();
  if (isClosing) return;
  const dispatcher = dispatcherOf(settings, settings.tells ? visitor.monitor : undefined);
  for await (const result of crawler.runMany(visitor.items, config, dispatcher)) {
    const { index } = result.dispatch;
    const sent = workOn(result.url, () => ({
      ...told(sentResult(result, wanted, lackIn(result, settings))),
      ...(settings.compares ? { simhash: simhashOfResult(result) } : {}),
    }));
    try {
      await visitor.send(index, sent);
    } catch {
      // Something in it cannot be copied.
      await visitor.send(index, { ...sent, parts: undefined });
    }
  }
}

const visitor = createVisitor<ToldResult>(tell);
let isClosing = false;
let close: () => Promise<void> = async () => undefined;

async function leave(): Promise<void> {
  if (isClosing) return;
  isClosing = true;
  visitor.leave();
  setTimeout(() => process.exit(1), CLOSE_MS).unref();
  await close().catch(() => undefined);
  process.exit(0);
}

process.on('SIGINT', () => undefined);
process.on('disconnect', () => void leave());
process.on('message', (message: ToVisitor) => {
  if (message.kind === 'close') void leave();
  else if (message.kind !== 'begin') visitor.hear(message);
  else {
    process.title = 'orcrawl batch: visits';
    void visitAll(message.settings as VisitorSettings).catch((error: unknown) => {
      if (isClosing) return;
      const { code, message: why } = asCrawlError(error, 'CRITICAL');
      tell({ kind: 'failed', code, message: why });
    });
  }
});
