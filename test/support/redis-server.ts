// A real redis-server for a test: on a free port, in a folder of its own, ended by its pid.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  /** Ends it with the signal and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** `kill -STOP` and `kill -CONT`. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its data. */
  dispose(): Promise<void>;
}

/** Why tests with Redis cannot run here; undefined when they can. */
export const redisMissing: string | undefined =
  spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'redis-server is not installed';

/** @param settings e.g. `['--appendonly', 'yes']` */
export async function startRedis(
  settings: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  givenPort?: number,
): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-redis-'));
  const port = givenPort ?? (await freePort());
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const fixed = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--loglevel',
      'warning',
    ];
    child = spawn('redis-server', [...fixed, ...settings], { stdio: 'ignore', env: { ...process.env, ...env } });
    const started = child;
    await untilAnswers(port, started).catch((error: unknown) => {
      started.kill('SIGKILL');
      throw error;
    });
  }

  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const stopping = child;
    child = undefined;
    if (!stopping || stopping.exitCode !== null || stopping.signalCode !== null) return;
    const gone = once(stopping, 'exit');
    stopping.kill('SIGCONT');
    stopping.kill(signal);
    await gone;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    get pid() {
      return child!.pid!;
    },
    stop,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async dispose() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Below the ports that systems give to connections (Linux: from 32,768), so none takes one while its server restarts. */
const PORTS = { from: 10_000, to: 32_000 };

/**
 * A port of loopback that nobody listens at.
 * @param companion Nobody listens at the port plus this, either.
 */
export async function freePort(companion = 0): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to - companion);
    if ((await isFree(port)) && (companion === 0 || (await isFree(port + companion)))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function untilAnswers(port: number, child: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (performance.now() < deadlineMs) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    if (await answers(port)) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
  throw new Error('redis-server does not answer');
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('data', (data) => end(/^\+PONG|^-NOAUTH/.test(data.toString())));
    socket.on('error', () => end(false));
  });
}
