// Checks a Redis server before a crawl: does it answer, and can it hold a frontier.
// Promise: read-only, closes what it opened, and returns problems instead of throwing.
import { type Connection, type ConnectionOptions, createConnection } from './connection.js';
import { checkServer } from './start-checks.js';

export interface ProbeFindings {
  /** Why it cannot be used; undefined if it can. */
  readonly problem: string | undefined;
  /** What a crash of the server can lose; undefined if nothing. */
  readonly atRisk: string | undefined;
}

export async function probeRedis(options: ConnectionOptions): Promise<ProbeFindings> {
  const patienceMs = options.patienceMs ?? options.connectTimeoutMs;
  let connection: Connection | undefined;
  try {
    connection = createConnection(patienceMs === undefined ? options : { ...options, patienceMs });
    await connection.connect();
    const { atRisk, replicas } = await checkServer(connection);
    const wanted = options.replicas ?? 0;
    if (replicas >= wanted) return { problem: undefined, atRisk };
    return {
      problem: `Redis at ${connection.where} has no replica: durability: replicated needs one for each master`,
      atRisk,
    };
  } catch (error) {
    return { problem: (error as Error).message, atRisk: undefined };
  } finally {
    connection?.close();
  }
}
