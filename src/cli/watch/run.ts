// Runs a watch of the command line: JSON lines to standard output, webhooks, signals.
// Promise: what is printed and posted is stored first; after a crash the rest follows.
import { createPoster } from '../../crawl/watch/poster.js';
import { startWatch, type WatchOptions } from '../../crawl/watch/watch.js';
import { startOutbox } from '../../crawl/watch/outbox.js';
import { systemTime } from '../../crawl/time.js';
import { Log, LogLevel } from '../../index.js';
import { createTextWriter } from '../../observe/log-lines.js';
import { complain, complainAsLogged, say } from '../terminal.js';

export interface WatchRun extends WatchOptions {
  readonly folder: string;
  readonly webhook?: string | undefined;
  readonly forSecs?: number | undefined;
  readonly quiet?: boolean | undefined;
}

/** At the end the webhook has so long to take the last changes; the next start goes on. */
const LAST_POSTS_MS = 10_000;

export async function runWatch({ folder: _folder, webhook, forSecs, quiet, ...options }: WatchRun): Promise<void> {
  const writer = createTextWriter(
    (line) => void complainAsLogged(line),
    () => false,
  );
  const log = new Log({ level: LogLevel.ERROR, logger: writer });
  const watch = startWatch({ ...options, crawler: { log, ...options.crawler } });
  const poster = webhook === undefined ? undefined : createPoster(webhook);
  const stored = () => watch.figures.changes;
  const from = { dataset: watch.dataset, state: watch.state, time: systemTime, stored };
  const lines = startOutbox({
    ...from,
    key: 'WATCH_LINES',
    take: async (item) => void (quiet || say(JSON.stringify(item))),
    onTrouble: (error) => complain(`Cannot print a change (${error.message}).`),
  });
  const posts =
    poster &&
    startOutbox({
      ...from,
      key: 'WATCH_WEBHOOK',
      closeMs: LAST_POSTS_MS,
      take: (item) => poster.post(JSON.stringify(item)),
      onTrouble: (error, againMs) =>
        complain(
          `The webhook did not accept a change (${error.message}). Trying again in ${Math.ceil(againMs / 1000)} s.`,
        ),
    });
  const stop = () => watch.stop();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const timer = forSecs === undefined ? undefined : setTimeout(stop, forSecs * 1000);
  try {
    await watch.ended;
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await lines.close();
    await posts?.close();
    await poster?.close();
  }
}
