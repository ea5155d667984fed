// A synthetic web in a process of its own, so that what a measurement sees is the crawler and not the server.
// Promise: the child ends when closed and also when this process dies; no call waits forever.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { entryFile } from '../../../base/entry-file.js';
import { CrawlError } from '../../../errors.js';
import type { ErrorCode } from '../../../errors.js';
import { calls } from './calls.js';
import type { Calls, FromChild, ToChild } from './calls.js';
import type { SimwebOptions } from '../knobs.js';
import { planSimweb } from '../options.js';
import { createUrls } from '../pages/urls.js';
import type { SimwebUrls } from '../pages/urls.js';

type Asked<F> = F extends (web: never, ...args: infer A) => infer R ? (...args: A) => Promise<R> : never;

/** A web in another process: URLs are made here, the log is read from there. */
export type SimwebProcess = SimwebUrls & { readonly [K in keyof Calls]: Asked<Calls[K]> } & {
  readonly pid: number;
  readonly port: number;
  readonly certificate: string | undefined;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const START_TIMEOUT_MS = 30_000;
// Generous: a query over millions of rows takes seconds.
const CALL_TIMEOUT_MS = 120_000;
const EXIT_TIMEOUT_MS = 5000;

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    if (child.connected) child.disconnect();
  });
}

/**
 * Starts a synthetic web in its own process.
 *
 * @example
 * const web = await startSimwebProcess({ hosts: 2000, pagesPerHost: 10 });
 * await crawler.run(web.seeds());
 * console.log(await web.served(), await web.maxInWindow(1000));
 * await web.close();
 */
export async function startSimwebProcess(options: SimwebOptions = {}): Promise<SimwebProcess> {
  const plan = planSimweb(options);
  const { file, execArgv } = entryFile(new URL('./child.js', import.meta.url));
  const child = fork(file, [], { execArgv, serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map<number, (message: Extract<FromChild, { kind: 'result' }>) => void>();
  const send = (message: ToChild): void => void child.send(message);

  const started = await new Promise<Extract<FromChild, { kind: 'started' }>>((resolve, reject) => {
    // The first failure is the cause; the child's end that follows is not.
    let failure: Error | undefined;
    const fail = (error: Error): void => {
      clearTimeout(timer);
      failure ??= error;
      void exited(child).then(() => reject(failure as Error));
    };
    const timer = setTimeout(
      () => fail(new Error(`the synthetic web did not start in ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    );
    child.once('error', fail);
    child.once('exit', (code) => fail(new Error(`the synthetic web ended at start with status ${code}`)));
    child.on('message', (message: FromChild) => {
      if (message.kind === 'result') waiting.get(message.id)?.(message);
      else if (message.kind === 'started') {
        clearTimeout(timer);
        resolve(message);
      } else
        fail(message.code ? new CrawlError(message.code as ErrorCode, message.message) : new Error(message.message));
    });
    send({ kind: 'start', options });
  });
  child.on('exit', () => {
    for (const [id, settle] of waiting) settle({ kind: 'result', id, error: 'the synthetic web’s process has ended' });
  });

  let lastId = 0;
  function ask(name: keyof Calls, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      const settle = (message: Extract<FromChild, { kind: 'result' }>): void => {
        clearTimeout(timer);
        waiting.delete(id);
        if (message.error === undefined) resolve(message.value);
        else reject(new Error(message.error));
      };
      const timer = setTimeout(() => settle({ kind: 'result', id, error: `no answer to "${name}"` }), CALL_TIMEOUT_MS);
      waiting.set(id, settle);
      if (child.connected) send({ kind: 'call', id, name, args });
      else settle({ kind: 'result', id, error: 'the synthetic web’s process has ended' });
    });
  }

  const names = Object.keys(calls) as (keyof Calls)[];
  const asked = Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => ask(name, args)]));
  const close = (): Promise<void> => exited(child);
  return {
    ...createUrls(plan, started.ports).urls,
    ...(asked as { [K in keyof Calls]: Asked<Calls[K]> }),
    pid: child.pid as number,
    port: started.ports.listening[0] as number,
    certificate: started.certificate,
    close,
    [Symbol.asyncDispose]: close,
  };
}
