// A pod's Redis figures for its metrics: load, memory, clients, and the state of its frontier.
// Promise: reads a few numbers in one round trip or reports the server as down; it never waits long.
import { type ConnectionOptions, createConnection } from './connection.js';
import { unpackStateNumbers } from '../state-numbers.js';

export interface ServerStats {
  /** Those inside scripts included. */
  readonly commandsPerSecond: number;
  readonly memoryBytes: number;
  /** 0: no limit. */
  readonly memoryLimitBytes: number;
  readonly clients: number;
  /** Accepted and not ended. */
  readonly frontierSize: number;
  readonly leased: number;
  readonly retrying: number;
  /** Waiting to be written to disk. */
  readonly overflow: number;
  /** On disk. */
  readonly spilled: number;
  readonly dueDomains: number;
  /** Dropped because their domain's budget was used up. */
  readonly dropped: number;
}

export interface ServerWatch {
  /** Undefined if the server does not answer. */
  read(): Promise<ServerStats | undefined>;
  close(): void;
}

const PATIENCE_MS = 2_000;

/** Its own connection, so that it never waits behind a crawl's calls. */
export async function watchServer(options: ConnectionOptions & { readonly prefix?: string }): Promise<ServerWatch> {
  const { prefix = '', ...rest } = options;
  const connection = createConnection({ ...rest, patienceMs: PATIENCE_MS, commandTimeoutMs: PATIENCE_MS });
  await connection.connect();
  let before: { atMs: number; commands: number } | undefined;

  async function read(): Promise<ServerStats | undefined> {
    try {
      const [info, packed] = (await Promise.all([
        connection.command('INFO', 'memory', 'clients', 'stats'),
        connection.command('HGET', `${prefix}state`, 'numbers'),
      ])) as [Buffer, Buffer | null];
      const numbers = new Map(
        String(info)
          .split('\r\n')
          .map((line) => line.split(':') as [string, string]),
      );
      const of = (name: string): number => Number(numbers.get(name) ?? 0);
      const state = unpackStateNumbers(packed);
      const due = await connection.command('ZCOUNT', `${prefix}due`, '-inf', String(state.now));
      const now = { atMs: performance.now(), commands: of('total_commands_processed') };
      const rate = before && ((now.commands - before.commands) * 1000) / Math.max(1, now.atMs - before.atMs);
      before = now;
      return {
        // A restarted server counts from 0.
        commandsPerSecond: rate === undefined || rate < 0 ? of('instantaneous_ops_per_sec') : rate,
        memoryBytes: of('used_memory'),
        memoryLimitBytes: of('maxmemory'),
        clients: of('connected_clients'),
        frontierSize: state.queued + state.retrying + state.leased,
        leased: state.leased,
        retrying: state.retrying,
        overflow: state.overflow,
        spilled: state.far - state.overflow,
        dueDomains: Number(due),
        dropped: state.dropped,
      };
    } catch {
      return undefined;
    }
  }

  return { read, close: () => connection.close() };
}
