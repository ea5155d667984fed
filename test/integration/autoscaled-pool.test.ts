// The pool against real timers, a real server and a real process: rate at the server, use of the slots,
// idle cost, and that nothing keeps the process alive afterwards.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { AutoscaledPool } from '../../src/dispatch/autoscaled-pool.js';
import { HTTP_POOL_OPTIONS } from '../../src/dispatch/pool-options.js';
import { createSystemLoad } from '../../src/dispatch/system-load.js';
import { TYPESCRIPT } from '../support/processes.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A server that notes when requests arrive and answers once `holdUntilOpen` of them are open. */
async function listen(holdUntilOpen = 1) {
  const seen = { arrivalsMs: [] as number[], mostOpen: 0 };
  let held: (() => void)[] = [];
  let open = 0;
  let holding = true;
  server = createServer((_, response) => {
    seen.arrivalsMs.push(performance.now());
    seen.mostOpen = Math.max(seen.mostOpen, ++open);
    response.once('close', () => open--);
    held.push(() => setTimeout(() => response.end('ok'), 5));
    if (open >= holdUntilOpen) holding = false;
    if (holding) return;
    for (const answer of held) answer();
    held = [];
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function fetchOnce(url: string): Promise<void> {
  const [response] = await once(get(url), 'response');
  response.resume();
  await once(response, 'end');
}

function mostInWindow(sorted: readonly number[], windowMs: number): number {
  let most = 0;
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while (sorted[last]! - sorted[first]! > windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

describe('AutoscaledPool on a real server', () => {
  it('never lets the server see more than 11 requests in a sliding second at 600 per minute, also after idle time', async () => {
    const { seen, url } = await listen();
    let left = 25;
    let allIn = false;
    const pool = new AutoscaledPool({
      minConcurrency: 50,
      maxTasksPerMinute: 600,
      runTaskFunction: () => {
        left--;
        return fetchOnce(url);
      },
      isTaskReadyFunction: async () => left > 0,
      isFinishedFunction: async () => allIn,
    });
    // The queue is empty for a second and then full: what was not used before must not come as a burst.
    const refill = setTimeout(() => {
      left = 25;
      allIn = true;
      pool.notify();
    }, 3_500);
    await pool.run();
    clearTimeout(refill);
    expect(seen.arrivalsMs).toHaveLength(50);
    expect(mostInWindow(seen.arrivalsMs, 1000)).toBeLessThanOrEqual(11);
  });

  it('keeps as many requests open as it may, and no more', async () => {
    const { seen, url } = await listen(30);
    let left = 300;
    const pool = new AutoscaledPool({
      minConcurrency: 30,
      maxConcurrency: 30,
      runTaskFunction: () => {
        left--;
        return fetchOnce(url);
      },
      isTaskReadyFunction: async () => left > 0,
      isFinishedFunction: async () => left === 0,
    });
    await pool.run();
    expect(seen.arrivalsMs).toHaveLength(300);
    expect(seen.mostOpen).toBe(30);
  });

  it('reads the real load while an HTTP crawl runs', async () => {
    const { url } = await listen();
    const load = createSystemLoad({ ...HTTP_POOL_OPTIONS.snapshotterOptions, systemSnapshotIntervalSecs: 0.05 });
    load.start();
    const pool = new AutoscaledPool(
      {
        ...HTTP_POOL_OPTIONS,
        runTaskFunction: () => fetchOnce(url),
        isTaskReadyFunction: async () => load.latest().cpuRatio === 0,
        isFinishedFunction: async () => load.latest().cpuRatio > 0,
      },
      undefined,
      { load },
    );
    await pool.run();
    load.stop();
    const { cpuRatio, usedBytes, limitBytes } = load.latest();
    expect(cpuRatio).toBeGreaterThan(0);
    expect(usedBytes).toBeGreaterThan(1_000_000);
    expect(limitBytes).toBeGreaterThan(usedBytes);
  });
});

describe('AutoscaledPool in a process of its own', () => {
  /** Runs a module, with the pool and the readers in scope. */
  const runScript = (body: string) => {
    const load = `
      import { AutoscaledPool } from './src/dispatch/autoscaled-pool.ts';
      import { createSystemReaders } from './src/dispatch/system-readers.ts';`;
    const args = ['--import', TYPESCRIPT, '--input-type=module', '-e', load + body];
    return run(process.execPath, args, { cwd: ROOT, timeout: 60_000 });
  };

  it('lets the process end by itself when it is finished, aborted or failed', async () => {
    const { stdout } = await runScript(`
      let left = 3;
      const tasks = {
        runTaskFunction: async () => void left--,
        isTaskReadyFunction: async () => left > 0,
        isFinishedFunction: async () => left <= 0,
      };
      await new AutoscaledPool(tasks).run();
      const waiting = new AutoscaledPool({ ...tasks, isFinishedFunction: async () => false });
      setTimeout(() => waiting.abort(), 50);
      await waiting.run();
      left = 1;
      const failing = new AutoscaledPool({ ...tasks, maxTasksPerMinute: 1, runTaskFunction: async () => { throw new Error('no luck'); } });
      await failing.run().catch((error) => console.log(error.message));
    `);
    expect(stdout.trim()).toBe('no luck');
  });

  it('keeps the process alive while it waits, and waits at next to no cost', async () => {
    const { stdout } = await runScript(`
      let questions = 0;
      const pool = new AutoscaledPool({
        runTaskFunction: async () => {},
        isTaskReadyFunction: async () => { questions++; return false; },
        isFinishedFunction: async () => performance.now() - start > 2_000,
      });
      const start = performance.now();
      const before = process.cpuUsage();
      await pool.run();
      const { user, system } = process.cpuUsage(before);
      console.log(JSON.stringify({ questions, cpuMs: (user + system) / 1000 }));
    `);
    const { questions, cpuMs } = JSON.parse(stdout) as { questions: number; cpuMs: number };
    expect(questions).toBeLessThanOrEqual(7);
    // CPU time, not wall time: two seconds of polling in a loop would be 2,000.
    expect(cpuMs).toBeLessThan(400);
  });

  it.runIf(process.platform === 'linux')('counts the memory of child processes when asked', async () => {
    const body = `
      import { spawn } from 'node:child_process';
      const alone = createSystemReaders({}).memory().usedBytes;
      const child = spawn(process.execPath, ['-e', 'const held = Buffer.alloc(100e6, 1); console.log(held.length); setInterval(() => {}, 1e6)']);
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const together = createSystemReaders({ includeChildren: true }).memory().usedBytes;
      child.kill('SIGKILL');
      console.log(together - alone > 100e6);
    `;
    expect((await runScript(body)).stdout.trim()).toBe('true');
  });
});
