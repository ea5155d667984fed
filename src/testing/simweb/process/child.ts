// Entry of the process that serves a synthetic web for another (simweb-process.ts): takes the options from its
// first message, answers calls by name, and ends when its parent closes the channel or dies.
import { calls } from './calls.js';
import type { FromChild, ToChild } from './calls.js';
import type { SimwebOptions } from '../knobs.js';
import { Simweb } from '../simweb.js';

function serveParent(): void {
  let web: Simweb | undefined;
  const reply = (message: FromChild): void => void process.send?.(message);

  async function start(options: SimwebOptions): Promise<void> {
    try {
      web = await Simweb.start(options);
      reply({ kind: 'started', ports: web.ports, certificate: web.certificate });
    } catch (error) {
      const { message, code } = error as { message?: string; code?: string };
      reply({ kind: 'failed', message: message ?? String(error), code });
    }
  }

  function call({ id, name, args }: Extract<ToChild, { kind: 'call' }>): void {
    try {
      if (!web) throw new Error('the web has not started');
      const value = (calls[name] as (web: Simweb, ...args: unknown[]) => unknown)(web, ...(args as unknown[]));
      reply({ kind: 'result', id, value });
    } catch (error) {
      reply({ kind: 'result', id, error: String(error) });
    }
  }

  process.on('message', (message: ToChild) => {
    if (message.kind === 'start') void start(message.options);
    else call(message);
  });
  // The parent is gone, or is done with us: there is nothing to save.
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C reaches the whole group; the parent may want to drain its crawl first, and its end is ours.
  process.on('SIGINT', () => {});
}

if (process.send) serveParent();
