import { describe, expect, it } from 'vitest';
import { Client } from 'undici';
import type { Connection } from './connections.js';
import { createConnectionPool } from './connections.js';

// Clients connect when they are first asked for something, so these never touch the network.
function poolAt(limits: { maxConnections?: number } = {}) {
  let nowMs = 0;
  const pool = createConnectionPool({
    now: () => nowMs,
    maxConnections: 100,
    onceIdleMs: 1_000,
    hotIdleMs: 5_000,
    ...limits,
  });
  const take = (key: string, fresh?: boolean) => pool.take(key, () => new Client('http://127.0.0.1:9'), fresh);
  return { pool, take, pass: (ms: number) => (nowMs += ms), now: () => nowMs };
}
const closed = ({ client }: Connection) => client.destroyed;

describe('createConnectionPool', () => {
  it('lends a connection to one at a time and gives back the one used last', () => {
    const { pool, take } = poolAt();
    const [first, second] = [take('a'), take('a')];
    expect(first).not.toBe(second);
    expect(pool.inUseCount).toBe(2);
    pool.release(first);
    pool.release(second);
    expect(take('a')).toBe(second);
    expect(take('b')).not.toBe(first);
    expect(take('a', true)).not.toBe(first);
    expect(take('a')).toBe(first);
    expect(pool.idleCount).toBe(0);
  });

  it('closes what served once early and keeps what served more', () => {
    const { pool, take, pass, now } = poolAt();
    const hot = take('hot');
    pool.release(hot);
    pool.release(take('hot'));
    const once = take('once');
    pool.release(once);
    pass(999);
    expect(pool.sweep(now())).toBe(true);
    expect([once, hot].map(closed)).toEqual([false, false]);
    pass(1);
    expect(pool.sweep(now())).toBe(true);
    expect([once, hot].map(closed)).toEqual([true, false]);
    pass(4_000);
    expect(pool.sweep(now())).toBe(false);
    expect(closed(hot)).toBe(true);
    expect(take('once')).not.toBe(once);
  });

  it('stays within its limit by closing idle ones, those that served once first', () => {
    const { pool, take } = poolAt({ maxConnections: 3 });
    const hot = take('hot');
    pool.release(hot);
    pool.release(take('hot'));
    const once = ['a', 'b', 'c', 'd'].map((key) => {
      const connection = take(key);
      pool.release(connection);
      return connection;
    });
    expect(pool.idleCount).toBe(3);
    expect(once.map(closed)).toEqual([true, true, false, false]);
    expect(closed(hot)).toBe(false);
  });

  it('destroys what is discarded and tells an attempt to connect to stop', () => {
    const { pool, take } = poolAt();
    const connection = take('a');
    const reason = new Error('enough');
    pool.discard(connection, reason);
    expect(closed(connection)).toBe(true);
    expect(connection.attempt.signal.reason).toBe(reason);
    pool.release(connection);
    expect(pool.idleCount).toBe(0);
  });

  it('forgets an idle connection that the server closed', () => {
    const { pool, take } = poolAt();
    const connection = take('a');
    pool.release(connection);
    connection.client.emit('disconnect', new URL('http://127.0.0.1:9'), [connection.client], new Error() as never);
    expect(pool.idleCount).toBe(0);
    expect(closed(connection)).toBe(true);
  });

  it('closes everything it has', async () => {
    const { pool, take } = poolAt();
    const [used, idle] = [take('a'), take('b')];
    pool.release(idle);
    await pool.close();
    expect([used, idle].map(closed)).toEqual([true, true]);
    expect(pool.idleCount + pool.inUseCount).toBe(0);
  });
});
