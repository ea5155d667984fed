// Closes browsers before the process ends, so that Ctrl-C leaves no temporary folders behind.
// Promise: a program with its own signal handlers keeps control; otherwise the process still ends by the signal.
import { CrawlError } from '../../errors.js';

/** Not SIGHUP: listening for it would undo `nohup`. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Ending {
  /** Ends the browser and removes what it left, within seconds. */
  close(): Promise<void>;
  /** Removes its leftovers synchronously: the process is exiting. */
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

/** A browser started now would outlive the process. */
export function assertNotEnding(): void {
  if (isEnding) throw new CrawlError('ABORTED', 'the process is ending: cannot start a browser');
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
