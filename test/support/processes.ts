// Processes of tests: how one runs TypeScript; and those that a process started, from /proc, which tests and measures count
// before and after (Linux only, elsewhere none).
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** `node --import` this runs TypeScript. */
export const TYPESCRIPT = new URL('../../scripts/typescript.mjs', import.meta.url).href;

/** /proc counts CPU time in these. */
const TICK_MS = 10;

/** CPU time of a process and all its threads so far, with its processes that have ended and those below it. */
export function cpuMsWithChildren(pid: number): number {
  const [, , , , , , , , , , , user, system, usersOfEnded, systemsOfEnded] = statOf(pid);
  const own = (Number(user) + Number(system) + Number(usersOfEnded) + Number(systemsOfEnded)) * TICK_MS;
  return childProcesses(pid).reduce((sum, child) => sum + ifAlive(() => cpuMsOf(child)), own);
}

/** CPU time of a process and all its threads so far. */
export function cpuMsOf(pid: number): number {
  const [, , , , , , , , , , , user, system] = statOf(pid);
  return (Number(user) + Number(system)) * TICK_MS;
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function ifAlive(look: () => number): number {
  try {
    return look();
  } catch {
    return 0; // it has ended since the list was made
  }
}

/** Processes below this one. */
export function childProcesses(root = process.pid): number[] {
  if (!existsSync('/proc/self/stat')) return [];
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ') as [string, string];
      if (state !== 'Z') parents.set(Number(name), Number(parent));
    } catch {
      // Gone meanwhile.
    }
  }
  const below = new Set([root]);
  for (let grew = true; grew;) {
    grew = false;
    for (const [pid, parent] of parents) {
      if (below.has(parent) && !below.has(pid)) grew = below.add(pid) !== undefined;
    }
  }
  below.delete(root);
  return [...below];
}

/** Browser processes below this one. */
export function browserProcesses(): number[] {
  return childProcesses().filter((pid) => {
    try {
      return /chrom/i.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    } catch {
      return false;
    }
  });
}

/** Whether this process has the socket at a local port, as a server sees it in `socket.remotePort`. */
export function hasConnectionFrom(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter((fields) => fields[1]?.endsWith(local))
    .map((fields) => `socket:[${fields[9]}]`);
  try {
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
    return sockets.some((socket) => open.includes(socket));
  } catch {
    return false; // it has ended
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed since the folder was read
  }
}
