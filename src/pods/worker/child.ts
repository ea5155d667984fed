// Entry of a worker process: takes its place from the first message, says every second that it lives, and ends when it
// is told to, when its work fails, or when the channel to its orchestrator closes: no orphans.
import { asCrawlError, type CrawlError, type ErrorCode } from '../../errors.js';
import { BEAT_MS, type FromWorker, type ToWorker } from '../messages.js';
import { openPodLog } from '../pod-log.js';
import { startWorker, type Worker } from './worker.js';

/** How long visits may go on after they were told to end. */
const DRAIN_MS = 10_000;
/** Whatever hangs while everything closes does not keep the process. */
const CLOSE_MS = 30_000;

const ROLLED_BACK = {
  code: 'QUEUE_ROLLED_BACK',
  message: "the pod's Redis came back without what this worker did last",
} as const;

function serve(): void {
  let worker: Worker | undefined;
  let isDraining = false;
  let isClosed = false;
  let whyItEnds: { readonly code?: ErrorCode; readonly message: string } | undefined;

  const tell = (message: FromWorker): void => {
    if (process.connected) process.send!(message, () => undefined);
  };

  /** At once, as a crash would: nothing is settled, closed or given back. */
  function leave(why: NonNullable<typeof whyItEnds>): never {
    whyItEnds = why;
    process.exit(1);
  }

  function drain(): void {
    isDraining = true;
    worker?.drain();
    setTimeout(() => worker?.abort(), DRAIN_MS).unref();
    setTimeout(() => process.exit(1), DRAIN_MS + CLOSE_MS).unref();
  }

  async function begin({
    config,
    place,
    allowance,
    blockedLoopMs,
  }: Extract<ToWorker, { kind: 'begin' }>): Promise<void> {
    // What `ps` shows.
    process.title = `orcrawl ${place.role} ${place.id} pod ${place.pod}`;
    const { log, close } = openPodLog(config, place.pod, place.role, place.id);
    process.on('uncaughtException', (error) => {
      log.exception(error, 'uncaught exception, exiting');
      leave({ message: `uncaught exception: ${error.message}` });
    });
    // Leaving while LMDB writes hangs for ever, and then nobody would learn that this worker is gone. What it had under
    // way is safe: a worker may be killed at any instant.
    process.on('exit', (status) => {
      if (isClosed) return;
      tell({ kind: 'ended', code: whyItEnds?.code, message: whyItEnds?.message ?? `process.exit(${status})` });
      process.kill(process.pid, 'SIGKILL');
    });
    let beat: NodeJS.Timeout | undefined;
    let last: FromWorker;
    try {
      worker = await startWorker({
        config,
        place,
        log,
        allowance,
        blockedLoopMs,
        checkAssignment: process.env.CRAWLER_DEBUG_POD_ASSIGNMENT === 'true',
        onHolder: (id) => tell({ kind: 'holder', id }),
        onProgress: (progress) => tell({ kind: 'progress', progress }),
        onRolledBack: () => leave(ROLLED_BACK),
      });
      log.info('started');
      tell({ kind: 'started' });
      if (isDraining) worker.drain();
      const sendBeat = (): void => tell({ kind: 'beat', figures: worker!.figures(), metrics: worker!.metrics() });
      beat = setInterval(sendBeat, BEAT_MS);
      const how = await worker.ended;
      sendBeat();
      const error = how.kind === 'failed' ? how.error : undefined;
      if (error) log.exception(error, 'ended by an error');
      else log.info(`ended: ${how.kind}`);
      last = { kind: 'ended', code: error?.code, message: error?.message ?? how.kind };
    } catch (thrown) {
      const error: CrawlError = asCrawlError(thrown, 'CRITICAL');
      log.exception(error, 'could not start');
      last = { kind: 'ended', code: error.code, message: error.message };
    }
    clearInterval(beat);
    close();
    isClosed = true;
    if (!process.connected) process.exit(0);
    process.send!(last, () => process.exit(last.kind === 'ended' && last.code !== undefined ? 1 : 0));
  }

  process.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'begin':
        return void begin(message);
      case 'drain':
        return drain();
      case 'abort':
        isDraining = true;
        return worker?.abort();
      case 'lost':
        return worker?.store.setLost(message.pods);
      case 'read':
        return void answer(message.call, async () => 0);
      case 'allow':
        return void answer(message.call, () => worker!.store.changeAllowance(message.change));
      default:
        return message satisfies never;
    }
  });

  async function answer(call: number, change: () => Promise<number>): Promise<void> {
    if (!worker) return;
    try {
      const pages = await change();
      const { seeded, ...reading } = await worker.store.reading();
      tell({ kind: 'reading', call, reading, pages, seeded });
    } catch {
      // A store that fails ends the worker, and with it the call.
    }
  }

  // The orchestrator is gone, or is done with us.
  process.on('disconnect', () => {
    if (!worker) process.exit(0);
    drain();
  });
  // Ctrl-C reaches the whole group: the orchestrator decides what it means.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
}

if (process.send) serve();
