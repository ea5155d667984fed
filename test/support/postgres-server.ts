// A real PostgreSQL for a test: on a free port, in a folder of its own, ended by its pid. It refuses to run as root, so
// root starts it as the user postgres of Debian's package.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './redis-server.js';

export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  /** Ends it with the signal and waits until it is gone: SIGKILL as a crash would, SIGINT properly. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  dispose(): Promise<void>;
}

const PACKAGES = '/usr/lib/postgresql';
const READY = 'ready to accept connections';
const version = existsSync(PACKAGES)
  ? readdirSync(PACKAGES).filter((name) => Number(name) >= 15 && existsSync(join(PACKAGES, name, 'bin/initdb')))[0]
  : undefined;
const isRoot = process.getuid?.() === 0;

/** Why tests with Postgres cannot run here; undefined when they can. */
export const postgresMissing: string | undefined = whyMissing();

function whyMissing(): string | undefined {
  if (version === undefined) return 'PostgreSQL 15 or newer is not installed in /usr/lib/postgresql';
  if (isRoot && idOf('-u') === undefined) return 'root cannot run PostgreSQL, and there is no user postgres';
  return undefined;
}

function idOf(flag: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}

/** As another user the program is the process itself: setpriv and initdb leave nothing between us and its pid. */
function commandFor(program: string, args: readonly string[]): [string, string[]] {
  const path = join(PACKAGES, version!, 'bin', program);
  if (!isRoot) return [path, [...args]];
  return ['setpriv', ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups', path, ...args]];
}

/** @param settings e.g. `['synchronous_commit=off']`. In memory where there is such a folder: not the disk is tested. */
export async function startPostgres(settings: readonly string[] = [], onDisk = false): Promise<PostgresServer> {
  const root = !onDisk && existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const folder = mkdtempSync(join(root, 'orcrawl-postgres-'));
  if (isRoot) chownSync(folder, idOf('-u')!, idOf('-g')!);
  const port = await freePort();
  const made = spawnSync(
    ...commandFor('initdb', ['-D', folder, '-U', 'crawler', '-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync']),
    { encoding: 'utf8', cwd: '/' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const all = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, ...settings];
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const deadlineMs = performance.now() + 120_000;
    let said: string | undefined;
    // The backends of a postmaster that was killed live on for a moment, and hold its memory.
    do {
      if (performance.now() > deadlineMs) throw new Error(`postgres does not start: ${said}`);
      if (said !== undefined) await sleep(50);
      said = await tryToStart(deadlineMs);
    } while (said.includes('pre-existing shared memory block'));
    if (!said.includes(READY)) throw new Error(`postgres does not start: ${said}`);
  }

  /** What it said until it was ready or ended. */
  async function tryToStart(deadlineMs: number): Promise<string> {
    const args = ['-D', folder, '-p', String(port), ...all.flatMap((one) => ['-c', one])];
    const started = spawn(...commandFor('postgres', args), { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
    child = started;
    let said = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
    while (!said.includes(READY) && started.exitCode === null && performance.now() < deadlineMs) await sleep(20);
    return said;
  }

  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const stopping = child;
    child = undefined;
    if (!stopping || stopping.exitCode !== null || stopping.signalCode !== null) return;
    const gone = once(stopping, 'exit');
    stopping.kill(signal);
    await gone;
  }

  await start();
  return {
    url: `postgres://crawler@127.0.0.1:${port}/postgres`,
    get pid() {
      return child!.pid!;
    },
    stop,
    start,
    async dispose() {
      await stop('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
