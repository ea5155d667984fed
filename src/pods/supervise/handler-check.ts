// Loads the handler module in a process of its own, before anything is emptied or crawled.
// Promise: user code never runs in the orchestrator, and a module that hangs is a problem like any other.
import { fork } from 'node:child_process';
import { CrawlError } from '../../errors.js';
import type { PodsConfig } from '../config/types.js';
import type { FromWorker, ToWorker } from '../messages.js';
import { childEntry } from './child-entry.js';

const LOAD_MS = 60_000;

type Handled = Pick<PodsConfig, 'handler' | 'watch'>;

/** Why the module cannot be used; undefined if there is none, or it loads and exports what is needed. */
export async function problemOfHandler({ handler, watch }: Handled, loadMs = LOAD_MS): Promise<string | undefined> {
  if (handler === undefined) return undefined;
  const mustWeigh = watch?.importance === 'handler';
  return new Promise((resolve) => {
    const { file, execArgv } = childEntry();
    const child = fork(file, [], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const end = (problem: string | undefined): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on('error', () => undefined);
      child.kill('SIGKILL');
      resolve(problem);
    };
    const timer = setTimeout(
      () => end(`the handler module ${handler} did not load within ${loadMs / 1_000} s`),
      loadMs,
    );
    child.on('message', (message: FromWorker) => {
      if (message.kind === 'checked') end(message.problem);
    });
    child.on('error', (error) => end(`cannot load the handler module ${handler}: ${error.message}`));
    child.on('exit', (code, signal) =>
      end(`the handler module ${handler} ended the process that loaded it (${signal ?? `status ${code}`})`),
    );
    child.send({ kind: 'check', handler, mustWeigh } satisfies ToWorker);
  });
}

/** Rejects with `OPTION_INVALID` if the module cannot be used. */
export async function checkHandler(config: Handled): Promise<void> {
  const problem = await problemOfHandler(config);
  if (problem !== undefined) throw new CrawlError('OPTION_INVALID', problem);
}
