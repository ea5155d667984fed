// Entry of a worker process: gets its place from the first message, sends a beat every second, and exits when told to,
// when its work fails, or when the channel to its orchestrator closes: no orphans.
import { asCrawlError, type CrawlError, type ErrorCode } from '../../errors.js';
import { BEAT_MS, type FromWorker, type ToWorker } from '../messages.js';
import { openPodLog } from '../pod-log.js';
import { loadHandler } from './handler-module.js';
import { wantsAssignmentChecks } from '../topology.js';
import type { Worker } from './worker.js';

/** How long visits may continue after a stop. */
const DRAIN_MS = 10_000;
/** Whatever hangs while closing does not keep the process alive. */
const CLOSE_MS = 30_000;

const ROLLED_BACK = {
  code: 'QUEUE_ROLLED_BACK',
  message: "the pod's Redis came back without this worker's last calls",
} as const;

function serve(): void {
  let worker: Worker | undefined;
  let isDraining = false;
  let isClosed = false;
  let whyItEnds: { readonly code?: ErrorCode; readonly message: string } | undefined;

  const tell = (message: FromWorker): void => {
    if (process.connected) process.send!(message, () => undefined);
  };

  /** At once, like a crash: nothing is settled, closed or returned. */
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
    // Exiting while LMDB writes hangs forever, and the orchestrator would not notice. Work in progress is safe: a worker
    // may be killed at any time.
    process.on('exit', (status) => {
      if (isClosed) return;
      tell({ kind: 'ended', code: whyItEnds?.code, message: whyItEnds?.message ?? `process.exit(${status})` });
      process.kill(process.pid, 'SIGKILL');
    });
    let beat: NodeJS.Timeout | undefined;
    let last: FromWorker;
    try {
      // Not loaded by a process that only checks a handler module.
      const { startWorker } = await import('./worker.js');
      worker = await startWorker({
        config,
        place,
        log,
        allowance,
        blockedLoopMs,
        checkAssignment: wantsAssignmentChecks(),
        onHolder: (id) => tell({ kind: 'holder', id }),
        onProgress: (progress) => tell({ kind: 'progress', progress }),
        onRolledBack: () => leave(ROLLED_BACK),
      });
      log.info('started');
      if (wantsAssignmentChecks()) log.info('Pod assignment debug mode enabled');
      tell({ kind: 'started' });
      if (isDraining) worker.drain();
      // Collecting metrics reads the tables of the kernel: only where they are served.
      const metrics = () => (config.enablePrometheus ? worker!.metrics() : undefined);
      const sendBeat = (): void => tell({ kind: 'beat', figures: worker!.figures(), metrics: metrics() });
      beat = setInterval(sendBeat, BEAT_MS);
      const how = await worker.ended;
      sendBeat();
      const error = how.kind === 'failed' ? how.error : undefined;
      if (error) log.exception(error, 'exiting after an error');
      else log.info(`exiting: ${how.kind}`);
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
      case 'check':
        return void check(message.handler, message.mustWeigh);
      case 'drain':
        return drain();
      case 'abort':
        isDraining = true;
        return worker?.abort();
      case 'lost':
        return worker?.store.setLost(message.pods);
      case 'share':
        return worker?.setShare(message.part);
      case 'read':
        return void answer(message.call, async () => 0, message.withNotes);
      case 'allow':
        return void answer(message.call, () => worker!.store.changeAllowance(message.change));
      default:
        return message satisfies never;
    }
  });

  async function check(handler: string, mustWeigh: boolean): Promise<void> {
    const problem = await loadHandler(handler, mustWeigh).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    process.send!({ kind: 'checked', problem } satisfies FromWorker, () => process.exit(0));
  }

  async function answer(call: number, change: () => Promise<number>, withNotes = false): Promise<void> {
    if (!worker) return;
    try {
      const pages = await change();
      const { seeded, ...reading } = await worker.store.reading();
      const notes = withNotes ? { notes: (await worker.store.overview()).notes } : {};
      tell({ kind: 'reading', call, reading, pages, seeded, ...notes });
    } catch {
      // A failing store ends the worker, and with it the call.
    }
  }

  // The orchestrator is gone, or has closed the channel.
  process.on('disconnect', () => {
    if (!worker) process.exit(0);
    drain();
  });
  // Ctrl-C reaches the whole group: the orchestrator decides what it means.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
}

if (process.send) serve();
