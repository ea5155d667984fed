// Unit tests of the CPU and memory readings, on files as Linux writes them and without them.
import { describe, expect, it } from 'vitest';
import type { Cgroup } from './cgroup.js';
import { createSystemReaders } from './system-readers.js';

const MB = 1024 * 1024;
const tree = (files: Record<string, string>) => (path: string) => files[path];
const unlimited: Cgroup = {
  memoryLimitBytes: undefined,
  cpuLimitCores: undefined,
  usedMemoryBytes: () => undefined,
  usedCpuMs: () => undefined,
};
const STATUS = 'Name:\tnode\nVmRSS:\t  900 kB\nRssAnon:\t  300 kB\nRssFile:\t  500 kB\nRssShmem:\t  100 kB\n';

describe('memory', () => {
  it('is limited by memoryMbytes before anything else', () => {
    const cgroup = { ...unlimited, memoryLimitBytes: 100 * MB };
    expect(createSystemReaders({ memoryMbytes: 7 }, { cgroup }).memory().limitBytes).toBe(7 * MB);
  });

  it('is limited by the cgroup before the host', () => {
    const cgroup = { ...unlimited, memoryLimitBytes: 100 * MB };
    expect(createSystemReaders({}, { cgroup, hostMemoryBytes: 800 * MB }).memory().limitBytes).toBe(100 * MB);
  });

  it('is limited to a quarter of the host, or the share asked for', () => {
    const parts = { cgroup: unlimited, hostMemoryBytes: 800 * MB };
    expect(createSystemReaders({}, parts).memory().limitBytes).toBe(200 * MB);
    expect(createSystemReaders({ availableMemoryRatio: 0.5 }, parts).memory().limitBytes).toBe(400 * MB);
  });

  it('counts what the process holds, without mapped files that the system can drop', () => {
    const readers = createSystemReaders({}, { cgroup: unlimited, readText: tree({ '/proc/self/status': STATUS }) });
    expect(readers.memory().usedBytes).toBe(400 * 1024);
  });

  it('is the resident set where there is no /proc', () => {
    const readers = createSystemReaders({}, { cgroup: unlimited, readText: () => undefined, rssBytes: () => 12345 });
    expect(readers.memory().usedBytes).toBe(12345);
  });

  it('counts the whole container against the limit of the container', () => {
    const cgroup = { ...unlimited, memoryLimitBytes: 100 * MB, usedMemoryBytes: () => 90 * MB };
    const readText = tree({ '/proc/self/status': STATUS });
    expect(createSystemReaders({}, { cgroup, readText }).memory().usedBytes).toBe(90 * MB);
    expect(createSystemReaders({ memoryMbytes: 50 }, { cgroup, readText }).memory().usedBytes).toBe(400 * 1024);
  });
});

describe('cpu', () => {
  it('is measured against the quota of the cgroup', () => {
    let now = 0;
    let used = 0;
    const cgroup = { ...unlimited, cpuLimitCores: 2, usedCpuMs: () => used };
    const readers = createSystemReaders({}, { cgroup, clock: () => now });
    const before = readers.cpu();
    now = 1000;
    used = 1500;
    const after = readers.cpu();
    expect((after.busyMs - before.busyMs) / (after.availableMs - before.availableMs)).toBe(0.75);
  });

  it('is that of the CPUs this process may run on', () => {
    const files = {
      '/proc/self/status': 'Cpus_allowed_list:\t1-2,5\n',
      '/proc/stat':
        'cpu  999 0 999 9 9 0 0 0 0 0\ncpu0 999 0 0 0 0 0 0 0 0 0\ncpu1 10 0 10 70 5 0 5 0 3 0\ncpu2 0 0 0 100 0 0 0 0 0 0\nintr 5\n',
    };
    const readers = createSystemReaders({}, { cgroup: unlimited, readText: tree(files) });
    expect(readers.cpu()).toEqual({ busyMs: 250, availableMs: 2000 });
  });

  it('is that of the host where there is no /proc', () => {
    const reading = createSystemReaders({}, { cgroup: unlimited, readText: () => undefined }).cpu();
    expect(reading.availableMs).toBeGreaterThan(0);
    expect(reading.busyMs).toBeLessThanOrEqual(reading.availableMs);
  });
});
