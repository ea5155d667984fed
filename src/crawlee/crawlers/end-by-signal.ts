// SIGTERM for scripts of Crawlee, whose processes end by it: ours finish their pages first, and end then.
// Promise: a process with a listener of its own for the signal decides for itself.

/** For what a script does after its crawl, such as writing a file; a process that has nothing left to do ends at once. */
const GRACE_MS = 5_000;

/** Runs a crawl; if SIGTERM came meanwhile, the process ends by it soon after, even if a server still listens. */
export async function endingBySignal<T>(run: () => Promise<T>, graceMs = GRACE_MS): Promise<T> {
  let isAsked = false;
  const listener = () => void (isAsked = true);
  process.on('SIGTERM', listener);
  try {
    return await run();
  } finally {
    process.off('SIGTERM', listener);
    if (isAsked) {
      const end = () => void (process.listenerCount('SIGTERM') === 0 && process.kill(process.pid, 'SIGTERM'));
      setTimeout(end, graceMs).unref();
    }
  }
}
