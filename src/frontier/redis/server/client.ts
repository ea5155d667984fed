// Opens a client for an address: the one place that does, for pods, queues and serve.
// Promise: every connection, also after a loss, goes to whoever is the master then; an idle one does not keep the
// process alive.
import { createRequire } from 'node:module';
import { connect as connectPlain, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AbstractConnector, Redis, RedisOptions } from 'ioredis';
import { type Access, accessTo, type RedisAddress, type RedisNode } from './address.js';
import { createLocator } from './locate.js';

export interface ClientOptions {
  readonly connectTimeoutMs: number;
  /** The longest silence while an answer is due. */
  readonly silenceMs: number;
  readonly keepAlive: boolean;
  /** Of a cluster: the slot of the keys that are used. */
  readonly slot: number;
}

const MAX_RECONNECT_PAUSE_MS = 1_000;
const KEEP_ALIVE_MS = 30_000;

/** createRequire: loaded on first use, and also from the CommonJS build of a consumer. */
const load = (): typeof import('ioredis') => createRequire(import.meta.url)('ioredis') as typeof import('ioredis');

export function createClient(address: RedisAddress, options: ClientOptions): Redis {
  const access = accessTo(address);
  const { Redis: Client } = load();
  return new Client({
    ...serverOptions(address, access),
    ...(address.kind === 'server' ? {} : { Connector: connectorFor(address, access, options) }),
    lazyConnect: true,
    protocol: 2,
    // Calls are numbered and wait in connection.ts, with a limit; the client must neither queue nor repeat them.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(MAX_RECONNECT_PAUSE_MS, 50 * attempt),
    connectTimeout: options.connectTimeoutMs,
    // Ends the connection, so that the next one gets the calls; a timeout of single commands would keep it.
    socketTimeout: options.silenceMs,
    // Anything but a number means none.
    keepAlive: options.keepAlive ? KEEP_ALIVE_MS : (false as never),
  });
}

function serverOptions(address: RedisAddress, { username, password, tls }: Access): RedisOptions {
  const { path, nodes, db } = address;
  return {
    ...(path === undefined ? { host: nodes[0]!.host, port: nodes[0]!.port } : { path }),
    db,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls && { tls: { ...tls, ...serverName(nodes[0]?.host) } }),
  };
}

/** The name that a certificate is checked against; addresses are checked by Node itself. */
function serverName(host: string | undefined): { servername?: string } {
  return host === undefined || /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}

/** Connects to the master of the moment. */
function connectorFor(address: RedisAddress, access: Access, options: ClientOptions): RedisOptions['Connector'] {
  const { AbstractConnector: Connector } = load();
  const locate = createLocator(address, {
    slot: options.slot,
    timeoutMs: Math.min(options.connectTimeoutMs, options.silenceMs),
    ask: (node, command) => ask(address, access, node, command, options),
  });
  return class extends Connector {
    constructor(given: unknown) {
      super((given as { disconnectTimeout: number }).disconnectTimeout);
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      try {
        const { host, port } = await locate();
        if (!this.connecting) throw new Error('the connection was closed while it was opened');
        const socket: Socket = access.tls
          ? connectTls({ host, port, ...access.tls, ...serverName(host) })
          : connectPlain({ host, port });
        this.stream = socket as AbstractConnector['stream'] & Socket;
        socket.once('error', (error) => (this.firstError = error));
        return socket;
      } catch (error) {
        // A rejection would end the client for good; a connection that failed is tried again.
        this.firstError = error as Error;
        return new Socket().destroy();
      }
    }
  } as unknown as RedisOptions['Connector'];
}

/** One command to one node, over a connection of its own. */
async function ask(
  address: RedisAddress,
  access: Access,
  node: RedisNode,
  command: readonly [string, ...string[]],
  { connectTimeoutMs, silenceMs }: ClientOptions,
): Promise<unknown> {
  const timeoutMs = Math.min(connectTimeoutMs, silenceMs);
  const once = async (withLogin: boolean): Promise<unknown> => {
    const { Redis: Client } = load();
    const client = new Client({
      ...{ host: node.host, port: node.port, lazyConnect: true, protocol: 2, enableReadyCheck: false },
      ...{ retryStrategy: () => null, maxRetriesPerRequest: 0, connectTimeout: timeoutMs, commandTimeout: timeoutMs },
      ...(access.tls && { tls: { ...access.tls, ...serverName(node.host) } }),
      ...(withLogin && access.username !== undefined && { username: access.username }),
      ...(withLogin && access.password !== undefined && { password: access.password }),
    });
    let lastError: Error | undefined;
    client.on('error', (error: Error) => (lastError = error));
    try {
      await client.connect();
      return await client.call(...command);
    } catch (error) {
      throw lastError ?? error;
    } finally {
      client.disconnect();
    }
  };
  // Sentinels often have no password where their servers have one.
  if (address.kind !== 'sentinel') return once(true);
  return once(false).catch((error: Error) => {
    if (access.password === undefined || !/^(NOAUTH|NOPERM)/.test(error.message)) throw error;
    return once(true);
  });
}

/** While idle, neither the connection nor the wait for a new one keeps the process alive. */
export function keepAliveWhile(redis: Redis): { during<T>(work: () => Promise<T>): Promise<T> } {
  let working = 0;
  const follow = (): void => {
    // Both are missing while there is no connection, or one.
    const { stream, reconnectTimeout } = redis as unknown as {
      stream?: import('node:net').Socket;
      reconnectTimeout?: NodeJS.Timeout | null;
    };
    for (const holding of [stream, reconnectTimeout]) {
      if (working > 0) holding?.ref();
      else holding?.unref();
    }
  };
  redis.on('connect', follow);
  redis.on('reconnecting', follow);
  return {
    async during(work) {
      if (working++ === 0) follow();
      try {
        return await work();
      } finally {
        if (--working === 0) follow();
      }
    },
  };
}
