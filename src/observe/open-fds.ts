// What the open files of this process are: connections to Redis, sites and others, files, pipes. Linux only.
// Promise: read rarely and bounded, since a process may have very many; never throws.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export const FD_KINDS = ['redis', 'http', 'https', 'tcp', 'unix', 'pipe', 'file', 'other'] as const;
export type FdKind = (typeof FD_KINDS)[number];
export type FdCounts = Readonly<Record<FdKind, number>>;

const READ_EVERY_MS = 30_000;
/** More are not looked at. */
const MAX_FDS = 20_000;
const MAX_TABLE_CHARS = 16 * 1024 * 1024;

/** Counts by kind, read at most every thirty seconds. */
export function createFdCount(
  redisPorts: ReadonlySet<number>,
  read: () => FdCounts = () => countFds(redisPorts),
  nowMs = () => performance.now(),
): () => FdCounts {
  let last: FdCounts | undefined;
  let readMs = 0;
  return () => {
    if (!last || nowMs() - readMs >= READ_EVERY_MS) {
      readMs = nowMs();
      last = read();
    }
    return last;
  };
}

function countFds(redisPorts: ReadonlySet<number>): FdCounts {
  const counts = Object.fromEntries(FD_KINDS.map((kind) => [kind, 0])) as Record<FdKind, number>;
  try {
    const links = readdirSync('/proc/self/fd').slice(0, MAX_FDS).map(linkOf);
    const hasSockets = links.some((link) => link.startsWith('socket:'));
    const ports = hasSockets ? remotePorts(['tcp', 'tcp6'].map((name) => tableOf(name)).join('\n')) : new Map();
    for (const link of links) counts[kindOfLink(link, ports, redisPorts)]++;
  } catch {
    // Not Linux, or not allowed.
  }
  return counts;
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'latin1').slice(0, MAX_TABLE_CHARS);
  } catch {
    return '';
  }
}

/** Inode of a TCP socket → the port at its other end, from /proc/net/tcp. */
export function remotePorts(table: string): Map<string, number> {
  const ports = new Map<string, number>();
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    const port = columns[2]?.split(':')[1];
    if (columns[9] !== undefined && port !== undefined) ports.set(columns[9], Number.parseInt(port, 16));
  }
  return ports;
}

export function kindOfLink(link: string, ports: ReadonlyMap<string, number>, redisPorts: ReadonlySet<number>): FdKind {
  if (link.startsWith('/') && !link.startsWith('/dev/')) return 'file';
  if (link.startsWith('pipe:')) return 'pipe';
  const [, inode] = /^socket:\[(\d+)\]$/.exec(link) ?? [];
  if (inode === undefined) return 'other';
  const port = ports.get(inode);
  if (port === undefined) return 'unix';
  if (redisPorts.has(port)) return 'redis';
  return port === 443 ? 'https' : port === 80 ? 'http' : 'tcp';
}
