// The open connections of an engine: lent to one exchange at a time, then kept for the next one to the same origin.
// Bounded over all origins: idle ones of hosts seen once are closed first, so a crawl of 100,000 hosts has few sockets.
import type { EventEmitter } from 'node:events';
import type { Client } from 'undici';
import { CrawlError } from '../../errors.js';

/** A client with at most one socket, used by one exchange at a time. */
export interface Connection {
  readonly key: string;
  readonly client: Client;
  /** Ends an attempt to connect at once. */
  readonly attempt: AbortController;
  /** Where it leads, when connections are counted by address. */
  readonly address: string | undefined;
  /** Exchanges that ended well on it. */
  served: number;
  idleSinceMs: number;
}

export interface ConnectionPoolOptions {
  readonly now: () => number;
  /** Idle ones are closed so that those in use and those kept stay within this many. */
  readonly maxConnections: number;
  /** The same for each address that `take` names. */
  readonly maxConnectionsPerAddress?: number;
  /** How long a connection that served once waits for a second request. */
  readonly onceIdleMs: number;
  /** How long a connection that served more than once is kept. */
  readonly hotIdleMs: number;
}

export interface ConnectionPool {
  /** An idle connection of that key, or a new one (`fresh`: always). It is the caller's until `release` or `discard`. */
  take(key: string, open: (attempt: AbortController) => Client, fresh?: boolean, address?: string): Connection;
  /** The exchange ended well: the connection waits for another. */
  release(connection: Connection): void;
  /** The connection is of no more use: its socket is destroyed now. */
  discard(connection: Connection, reason: Error): void;
  /** Closes what has been idle too long; true while anything is idle. */
  sweep(nowMs: number): boolean;
  /** Destroys all connections; those in use fail. Resolves when all sockets are closed. */
  close(): Promise<void>;
  readonly idleCount: number;
  readonly inUseCount: number;
}

export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { now, maxConnections, onceIdleMs, hotIdleMs, maxConnectionsPerAddress = Infinity } = options;
  const inUse = new Set<Connection>();
  const idleByKey = new Map<string, Connection[]>();
  // Sets keep the order of insertion, so the first of each has been idle longest.
  const onceIdle = new Set<Connection>();
  const hotIdle = new Set<Connection>();
  /** All open ones, by the address they lead to. */
  const byAddress = new Map<string, Set<Connection>>();

  /** Idle connections to an address give way to a new one. */
  function makeRoomAt(address: string): void {
    const open = byAddress.get(address);
    for (const connection of open ?? []) {
      if (open!.size < maxConnectionsPerAddress) return;
      if (onceIdle.has(connection) || hotIdle.has(connection)) closeIdle(connection);
    }
  }

  function countOut(connection: Connection): void {
    if (connection.address === undefined) return;
    const open = byAddress.get(connection.address);
    if (open?.delete(connection) && open.size === 0) byAddress.delete(connection.address);
  }

  function forgetIdle(connection: Connection): boolean {
    if (!onceIdle.delete(connection) && !hotIdle.delete(connection)) return false;
    const stack = idleByKey.get(connection.key)!;
    if (stack.length === 1) idleByKey.delete(connection.key);
    else stack.splice(stack.indexOf(connection), 1);
    return true;
  }

  function destroy(connection: Connection, reason: Error): void {
    countOut(connection);
    connection.attempt.abort(reason);
    connection.client.destroy(reason, ignore);
  }

  function closeIdle(connection: Connection): void {
    forgetIdle(connection);
    destroy(connection, IDLE_CLOSED);
  }

  return {
    take(key, open, fresh = false, address) {
      const stack = fresh ? undefined : idleByKey.get(key);
      // The most recently used is the least likely to have been closed by the server.
      const kept = stack?.[stack.length - 1];
      if (kept) {
        forgetIdle(kept);
        inUse.add(kept);
        return kept;
      }
      if (address !== undefined) makeRoomAt(address);
      const attempt = new AbortController();
      const client = open(attempt);
      const connection: Connection = { key, client, attempt, address, served: 0, idleSinceMs: 0 };
      if (address !== undefined) {
        const others = byAddress.get(address);
        if (others) others.add(connection);
        else byAddress.set(address, new Set([connection]));
      }
      // The server closed it while it was idle.
      client.on('disconnect', () => {
        if (!forgetIdle(connection)) return;
        countOut(connection);
        client.destroy(IDLE_CLOSED, ignore);
      });
      // The client reports faults of its handlers here; without a listener they would end the process.
      (client as EventEmitter).on('error', ignore);
      inUse.add(connection);
      return connection;
    },

    release(connection) {
      if (!inUse.delete(connection)) return;
      connection.served++;
      connection.idleSinceMs = now();
      (connection.served > 1 ? hotIdle : onceIdle).add(connection);
      const stack = idleByKey.get(connection.key);
      if (stack) stack.push(connection);
      else idleByKey.set(connection.key, [connection]);
      if (inUse.size + onceIdle.size + hotIdle.size > maxConnections) {
        const oldest = onceIdle.values().next().value ?? hotIdle.values().next().value;
        if (oldest) closeIdle(oldest);
      }
    },

    discard(connection, reason) {
      if (inUse.delete(connection)) destroy(connection, reason);
    },

    sweep(nowMs) {
      for (const [idle, limitMs] of [
        [onceIdle, onceIdleMs],
        [hotIdle, hotIdleMs],
      ] as const) {
        for (const connection of idle) {
          if (nowMs - connection.idleSinceMs < limitMs) break;
          closeIdle(connection);
        }
      }
      return onceIdle.size + hotIdle.size > 0;
    },

    async close() {
      const reason = new CrawlError('ABORTED', 'the engine was closed');
      const all = [...inUse, ...onceIdle, ...hotIdle];
      inUse.clear();
      idleByKey.clear();
      onceIdle.clear();
      hotIdle.clear();
      byAddress.clear();
      await Promise.all(
        all.map((connection) => {
          connection.attempt.abort(reason);
          return connection.client.destroy(reason);
        }),
      );
    },

    get idleCount() {
      return onceIdle.size + hotIdle.size;
    },
    get inUseCount() {
      return inUse.size;
    },
  };
}

/** Nobody sees it, so all closed idle connections share one: making an error costs more than closing a socket. */
const IDLE_CLOSED = new Error('idle connection closed');

function ignore(): void {}
