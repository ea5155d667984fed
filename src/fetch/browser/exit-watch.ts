// Browsers of a process that is about to end: they are closed first, so that a Ctrl-C leaves no folder of theirs behind.
// Promise: whoever listens for signals himself is left to it; otherwise the process still ends by the signal it got.
import { CrawlError } from '../../errors.js';

/** Not SIGHUP: listening for it would undo `nohup`. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Ending {
  /** Ends the browser and removes what it left, within seconds. */
  close(): Promise<void>;
  /** Removes what it left now: there is no time for more. */
  leave(): void;
}

const endings = new Set<Ending>();
let isEnding = false;

function onSignal(signal: NodeJS.Signals): void {
  // Somebody else listens, and closes what he opened. A second signal means now.
  if (process.listenerCount(signal) > 1) return;
  if (isEnding) return again(signal);
  isEnding = true;
  void closeAll().then(() => again(signal));
}

/** What was being started when the signal came is closed too. */
async function closeAll(): Promise<void> {
  while (endings.size > 0) await Promise.allSettled([...endings].map((one) => one.close()));
}

/** A browser that is asked for now would outlive the process. */
export function assertNotEnding(): void {
  if (isEnding) throw new CrawlError('ABORTED', 'the process is ending: no browser is started');
}

function again(signal: NodeJS.Signals): void {
  unwatch();
  isEnding = false;
  process.kill(process.pid, signal);
}

function onExit(): void {
  for (const one of endings) one.leave();
}

function unwatch(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
  process.off('exit', onExit);
}

/** Watches until the returned function is called. */
export function watchExit(ending: Ending): () => void {
  if (endings.size === 0) {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    process.on('exit', onExit);
  }
  endings.add(ending);
  return () => {
    if (endings.delete(ending) && endings.size === 0 && !isEnding) unwatch();
  };
}
