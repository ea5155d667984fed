// System metrics of the process and the machine: from /proc on Linux, from Node elsewhere.
// Promise: reading never fails a crawl; what the platform does not provide is left out.
import { readdirSync, statfsSync } from 'node:fs';
import { cpus, freemem, totalmem } from 'node:os';
import { type ReadText, readTextFile } from '../base/process-memory.js';
import { createFdCount, FD_KINDS } from './open-fds.js';
import { createMetrics, type Metrics, type MetricsSnapshot } from './metrics.js';

/** Adds memory, open files, CPU time and pages per second of this process. */
export function addProcessMetrics(
  metrics: Metrics,
  pagesSoFar: () => number,
  nowMs = () => performance.now(),
  redisPorts: ReadonlySet<number> = new Set(),
): void {
  let before = { atMs: nowMs(), pages: pagesSoFar() };
  metrics.gauge('orcrawl_process_resident_memory_bytes', {}, () => process.memoryUsage.rss());
  if (process.platform === 'linux') {
    metrics.gauge('orcrawl_process_open_fds', {}, () => readdirSync('/proc/self/fd').length);
    const fds = createFdCount(redisPorts);
    for (const kind of FD_KINDS) metrics.gauge('orcrawl_process_open_fds_by_kind', { kind }, () => fds()[kind]);
  }
  metrics.total('orcrawl_process_cpu_seconds_total', {}, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge('orcrawl_process_pages_per_second', {}, () => {
    const now = { atMs: nowMs(), pages: pagesSoFar() };
    const perSecond = ((now.pages - before.pages) * 1000) / Math.max(1, now.atMs - before.atMs);
    before = now;
    return perSecond;
  });
}

/** The machine at this moment: CPU, memory, the disks under `paths`, I/O and network. */
export function machineMetrics(paths: readonly string[], read: ReadText = readTextFile): MetricsSnapshot {
  const metrics = createMetrics();
  addCpu(metrics);
  addMemory(metrics, read);
  for (const path of paths) addDisk(metrics, path);
  addDiskActivity(metrics, read('/proc/diskstats') ?? '');
  addNetwork(metrics, read('/proc/net/dev') ?? '');
  return metrics.snapshot();
}

function addCpu(metrics: Metrics): void {
  const modes = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
  for (const { times } of cpus())
    for (const mode of Object.keys(modes) as (keyof typeof modes)[]) modes[mode] += times[mode];
  for (const [mode, ms] of Object.entries(modes)) {
    metrics.counter('orcrawl_machine_cpu_seconds_total', { mode: mode === 'sys' ? 'system' : mode }).add(ms / 1000);
  }
}

function addMemory(metrics: Metrics, read: ReadText): void {
  const text = read('/proc/meminfo') ?? '';
  const [, availableKb] = /^MemAvailable:\s+(\d+) kB$/m.exec(text) ?? [];
  const [, freeKb] = /^MemFree:\s+(\d+) kB$/m.exec(text) ?? [];
  metrics.gauge('orcrawl_machine_memory_free_bytes', {}).set(freeKb === undefined ? freemem() : Number(freeKb) * 1024);
  metrics.gauge('orcrawl_machine_memory_total_bytes', {}).set(totalmem());
  metrics
    .gauge('orcrawl_machine_memory_available_bytes', {})
    .set(availableKb === undefined ? freemem() : Number(availableKb) * 1024);
}

function addDisk(metrics: Metrics, path: string): void {
  try {
    const { bsize, blocks, bavail } = statfsSync(path);
    metrics.gauge('orcrawl_machine_disk_size_bytes', { path }).set(blocks * bsize);
    metrics.gauge('orcrawl_machine_disk_free_bytes', { path }).set(bavail * bsize);
  } catch {
    // Not created yet, or removed.
  }
}

/** Sectors in /proc/diskstats are of this size, whatever the disk's own is. */
const SECTOR_BYTES = 512;

function addDiskActivity(metrics: Metrics, text: string): void {
  for (const line of text.split('\n')) {
    const [, , device, reads, , sectorsRead, , writes, , sectorsWritten, , , busyMs] = line.trim().split(/\s+/);
    // Whole disks: partitions and loops would count the same bytes twice.
    if (
      device === undefined ||
      busyMs === undefined ||
      !/^(?:[shv]d[a-z]+|xvd[a-z]+|nvme\d+n\d+|mmcblk\d+)$/.test(device)
    )
      continue;
    metrics.counter('orcrawl_machine_disk_read_bytes_total', { device }).add(Number(sectorsRead) * SECTOR_BYTES);
    metrics.counter('orcrawl_machine_disk_written_bytes_total', { device }).add(Number(sectorsWritten) * SECTOR_BYTES);
    metrics.counter('orcrawl_machine_disk_reads_total', { device }).add(Number(reads));
    metrics.counter('orcrawl_machine_disk_writes_total', { device }).add(Number(writes));
    metrics.counter('orcrawl_machine_disk_io_seconds_total', { device }).add(Number(busyMs) / 1000);
  }
}

function addNetwork(metrics: Metrics, text: string): void {
  for (const line of text.split('\n')) {
    const [, device, rest] = /^\s*([^\s:]+):(.+)$/.exec(line) ?? [];
    if (device === undefined || rest === undefined) continue;
    const columns = rest.trim().split(/\s+/).map(Number);
    metrics.counter('orcrawl_machine_network_received_bytes_total', { device }).add(columns[0] ?? 0);
    metrics.counter('orcrawl_machine_network_sent_bytes_total', { device }).add(columns[8] ?? 0);
    metrics.counter('orcrawl_machine_network_received_packets_total', { device }).add(columns[1] ?? 0);
    metrics.counter('orcrawl_machine_network_sent_packets_total', { device }).add(columns[9] ?? 0);
  }
}
