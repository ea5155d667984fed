// Checks a Redis server before a crawl: does it answer, and can it hold a frontier.
// Promise: read-only, closes what it opened, and returns problems instead of throwing.
import { type ConnectionOptions, createConnection } from './connection.js';
import { checkServer } from './start-checks.js';

export interface ProbeFindings {
  /** Why it cannot be used; undefined if it can. */
  readonly problem: string | undefined;
  /** What a crash of the server can lose; undefined if nothing. */
  readonly atRisk: string | undefined;
}

export async function probeRedis(options: ConnectionOptions): Promise<ProbeFindings> {
  const patienceMs = options.patienceMs ?? options.connectTimeoutMs;
  const connection = createConnection(patienceMs === undefined ? options : { ...options, patienceMs });
  try {
    await connection.connect();
    const { atRisk } = await checkServer(connection);
    return { problem: undefined, atRisk };
  } catch (error) {
    return { problem: (error as Error).message, atRisk: undefined };
  } finally {
    connection.close();
  }
}
