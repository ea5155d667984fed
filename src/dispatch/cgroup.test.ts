// Unit tests of the container limits, on file trees as kernels write them.
import { describe, expect, it } from 'vitest';
import { readCgroup } from './cgroup.js';

const HOST_BYTES = 64 * 2 ** 30;
const tree = (files: Record<string, string>) => (path: string) => files[path];

describe('cgroup', () => {
  it('reads the limits of version 2', () => {
    const group = readCgroup(
      tree({
        '/proc/self/cgroup': '0::/\n',
        '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
        '/sys/fs/cgroup/memory.max': '536870912\n',
        '/sys/fs/cgroup/cpu.max': '150000 100000\n',
        '/sys/fs/cgroup/memory.stat': 'anon 1000\nfile 999999\nshmem 200\nslab_unreclaimable 30\n',
        '/sys/fs/cgroup/cpu.stat': 'usage_usec 5000000\nuser_usec 1\n',
      }),
      HOST_BYTES,
    );
    expect(group.memoryLimitBytes).toBe(536_870_912);
    expect(group.cpuLimitCores).toBe(1.5);
    expect(group.usedMemoryBytes()).toBe(1230);
    expect(group.usedCpuMs()).toBe(5000);
  });

  it('takes "max" of version 2 as no limit', () => {
    const group = readCgroup(
      tree({
        '/proc/self/cgroup': '0::/app\n',
        '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
        '/sys/fs/cgroup/app/memory.max': 'max\n',
        '/sys/fs/cgroup/app/cpu.max': 'max 100000\n',
      }),
      HOST_BYTES,
    );
    expect(group.memoryLimitBytes).toBeUndefined();
    expect(group.cpuLimitCores).toBeUndefined();
    expect(group.usedMemoryBytes()).toBeUndefined();
    expect(group.usedCpuMs()).toBeUndefined();
  });

  it('takes the tightest limit among the group and its ancestors', () => {
    const group = readCgroup(
      tree({
        '/proc/self/cgroup': '0::/slice/pod/app\n',
        '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
        '/sys/fs/cgroup/slice/pod/app/memory.max': 'max\n',
        '/sys/fs/cgroup/slice/pod/memory.max': '1000000\n',
        '/sys/fs/cgroup/slice/memory.max': '9000000\n',
        '/sys/fs/cgroup/slice/pod/memory.stat': 'anon 77\n',
        '/sys/fs/cgroup/slice/pod/app/cpu.max': '200000 100000\n',
        '/sys/fs/cgroup/slice/cpu.max': '50000 100000\n',
        '/sys/fs/cgroup/slice/cpu.stat': 'usage_usec 9000\n',
      }),
      HOST_BYTES,
    );
    expect(group.memoryLimitBytes).toBe(1_000_000);
    expect(group.usedMemoryBytes()).toBe(77);
    expect(group.cpuLimitCores).toBe(0.5);
    expect(group.usedCpuMs()).toBe(9);
  });

  it('reads the limits of version 1', () => {
    const group = readCgroup(
      tree({
        '/proc/self/cgroup': '4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n',
        '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': '268435456\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
        '/sys/fs/cgroup/memory/docker/abc/memory.stat': 'rss 1\ntotal_rss 500\ntotal_cache 9999\ntotal_shmem 20\n',
        '/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us': '400000\n',
        '/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us': '100000\n',
        '/sys/fs/cgroup/cpuacct/docker/abc/cpuacct.usage': '3000000000\n',
      }),
      HOST_BYTES,
    );
    expect(group.memoryLimitBytes).toBe(268_435_456);
    expect(group.usedMemoryBytes()).toBe(520);
    expect(group.cpuLimitCores).toBe(4);
    expect(group.usedCpuMs()).toBe(3000);
  });

  it('falls back to the mount when the path is the host’s, as inside a version 1 container', () => {
    const group = readCgroup(
      tree({
        '/proc/self/cgroup': '4:memory:/docker/abc\n3:cpu:/docker/abc\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': '1048576\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      }),
      HOST_BYTES,
    );
    expect(group.memoryLimitBytes).toBe(1_048_576);
    expect(group.cpuLimitCores).toBeUndefined();
  });

  it('takes the huge number of version 1, and any limit above the machine, as none', () => {
    for (const limit of ['9223372036854771712', String(HOST_BYTES * 2)]) {
      const group = readCgroup(
        tree({ '/proc/self/cgroup': '4:memory:/\n', '/sys/fs/cgroup/memory/memory.limit_in_bytes': limit }),
        HOST_BYTES,
      );
      expect(group.memoryLimitBytes).toBeUndefined();
    }
  });

  it('reads version 2 under the mount of a hybrid system', () => {
    const group = readCgroup(
      tree({ '/proc/self/cgroup': '0::/app\n', '/sys/fs/cgroup/unified/app/memory.max': '4096\n' }),
      HOST_BYTES,
    );
    expect(group.memoryLimitBytes).toBe(4096);
  });

  it('never climbs out of the mount', () => {
    const asked: string[] = [];
    readCgroup((path) => {
      asked.push(path);
      return path === '/proc/self/cgroup' ? '0::/../../etc\n' : undefined;
    }, HOST_BYTES);
    expect(asked.filter((path) => path.includes('..'))).toEqual([]);
  });

  it.each([
    ['nothing', {}],
    ['garbage', { '/proc/self/cgroup': '\0\0 ::: x', '/sys/fs/cgroup/memory.max': 'NaN' }],
    ['zero', { '/proc/self/cgroup': '4:memory:/', '/sys/fs/cgroup/memory/memory.limit_in_bytes': '0' }],
  ])('finds no limit in %s', (_, files) => {
    const group = readCgroup(tree(files as Record<string, string>), HOST_BYTES);
    expect([group.memoryLimitBytes, group.cpuLimitCores]).toEqual([undefined, undefined]);
  });
});
