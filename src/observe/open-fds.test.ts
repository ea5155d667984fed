import { describe, expect, it } from 'vitest';
import { createFdCount, kindOfLink, remotePorts } from './open-fds.js';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:A1B2 0100007F:18EB 01 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 20 4 30 10 -1
   1: 0100007F:A1B3 08080808:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 20 4 30 10 -1
   2: 0100007F:A1B4 08080808:0050 01 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 20 4 30 10 -1
   3: 0100007F:A1B5 08080808:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 444 1 0 20 4 30 10 -1`;

describe('the kinds of open files', () => {
  it('tell Redis, sites and files apart', () => {
    const ports = remotePorts(TABLE);
    const kinds = [
      'socket:[111]',
      'socket:[222]',
      'socket:[333]',
      'socket:[444]',
      'socket:[9]',
      'pipe:[1]',
      '/a/b',
      '/dev/null',
      'anon_inode:[eventpoll]',
      '',
    ];
    expect(kinds.map((link) => kindOfLink(link, ports, new Set([6379])))).toEqual([
      'redis',
      'https',
      'http',
      'tcp',
      'unix',
      'pipe',
      'file',
      'other',
      'other',
      'other',
    ]);
  });

  it('are counted rarely, and add up to something here', () => {
    let now = 0;
    let reads = 0;
    const count = createFdCount(
      new Set(),
      () => ({ ...createFdCount(new Set())(), file: ++reads }),
      () => now,
    );
    expect([count().file, count().file]).toEqual([1, 1]);
    now = 30_000;
    expect(count().file).toBe(2);
    expect(Object.values(createFdCount(new Set())()).reduce((sum, n) => sum + n, 0)).toBeGreaterThan(
      process.platform === 'linux' ? 2 : -1,
    );
  });
});
