// engine 'auto': asks over HTTP first and loads the page in a browser when that shows nothing without scripts.
// Promise: what a URL asks of a page decides before anything is sent; sites that need the browser are remembered.
import type { Capture, Engine, FetchOrder } from '../fetch/engine.js';
import { createRenderingMemory, needsScripts, type RenderingMemory } from './adaptive-rendering.js';

export interface AdaptiveEngineParts {
  readonly http: Engine;
  readonly browser: Engine;
  /** Only a browser can do what the order's URL asks for. */
  readonly needsBrowser: (order: FetchOrder) => boolean;
  readonly memory?: RenderingMemory;
  /** Between the two requests of one order: resolves when the domain, whose turn the order still has, has rested. */
  readonly rest?: (order: FetchOrder, capture: Capture) => Promise<void>;
}

export function createAdaptiveEngine({
  http,
  browser,
  needsBrowser,
  memory = createRenderingMemory(),
  rest,
}: AdaptiveEngineParts): Engine {
  return {
    async visit(order, use) {
      if (needsBrowser(order)) return browser.visit(order, use);
      if (order.method.toUpperCase() !== 'GET') return http.visit(order, use);
      if (memory.expected(order.url) === 'browser') return browser.visit(order, use);
      const answer = await http.visit(order, async (capture, live) => {
        if (isShell(capture)) return { shell: capture, used: undefined };
        if (capture.statusCode < 300) memory.learn(order.url, 'static');
        return { shell: undefined, used: await use(capture, live) };
      });
      if (answer.shell === undefined) return answer.used;
      memory.learn(order.url, 'browser');
      await rest?.(order, answer.shell);
      // Both together are one attempt, and have its time.
      const timeoutMs = Math.max(1, order.timeoutMs - answer.shell.timings.totalMs);
      return browser.visit({ ...order, timeoutMs }, use);
    },
    async close() {
      await Promise.all([http.close(), browser.close()]);
    },
  };
}

function isShell({ statusCode, body, loadedUrl, headers, redirectTo }: Capture): boolean {
  if (statusCode >= 400 || redirectTo !== undefined) return false;
  return needsScripts(body, loadedUrl, headers['content-type'] as string | undefined);
}

/** An engine whose captures tell who fetched them. */
export function namedEngine(engine: Engine, name: 'http' | 'browser'): Engine {
  return {
    visit: (order, use) => engine.visit(order, (capture, live) => use({ ...capture, engine: name } as Capture, live)),
    close: () => engine.close(),
  };
}
