// Who has a queue open, and whether that process still lives: the reason a dead owner's work comes back at once.
// A pid alone proves nothing (it is reused, and every container has a pid 1), so its start time, its pid namespace and
// the boot are compared too. A host name proves nothing either (cloned images share it); what cannot be told is left to
// expiry.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { threadId } from 'node:worker_threads';
import { isAlive } from '../base/alive.js';

export interface ProcessIdentity {
  readonly pid: number;
  readonly thread: number;
  readonly host: string;
  readonly bootId: string;
  /** The pid namespace on Linux; '' elsewhere. */
  readonly pidSpace: string;
  /** The process's start in kernel ticks on Linux; '' elsewhere. */
  readonly started: string;
  /** Unique among all openings of all processes. */
  readonly token: string;
}

export type Life = 'alive' | 'dead' | 'unknown';

/** Who can have a queue open: the processes of one `machine` (a file), or of any (a server on the `network`). */
export type Reach = 'machine' | 'network';

export function identifyProcess(bootId: string, token: string): ProcessIdentity {
  return {
    pid: process.pid,
    thread: threadId,
    host: hostname(),
    bootId,
    pidSpace: pidSpace(),
    started: startOf(process.pid) ?? '',
    token,
  };
}

/** Tokens of the openings this process has not closed; shared by every copy of this module in the process. */
export function openTokens(): Set<string> {
  const key = Symbol.for('orcrawl.frontier.openTokens');
  const shared = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  return (shared[key] ??= new Set());
}

/** Whether the process that left `identity` behind still has the queue open. */
export function lifeOf(identity: ProcessIdentity, bootId: string, reach: Reach): Life {
  if (identity.bootId !== bootId) {
    // Another boot of this machine ended everything of the last one. Over a network it may be another machine that has
    // the same name, and still runs.
    return reach === 'machine' && identity.host === hostname() ? 'dead' : 'unknown';
  }
  if (reach === 'network' && bootId === '') return openTokens().has(identity.token) ? 'alive' : 'unknown';
  if (identity.pidSpace !== pidSpace()) return 'unknown';
  if (identity.pidSpace === '' && identity.host !== hostname()) return 'unknown';
  if (identity.pid === process.pid && identity.started === (startOf(process.pid) ?? '')) {
    if (identity.thread === threadId) return openTokens().has(identity.token) ? 'alive' : 'dead';
    return 'unknown';
  }
  const started = startOf(identity.pid);
  if (started !== undefined && identity.started !== '') return started === identity.started ? 'alive' : 'dead';
  return isAlive(identity.pid) ? 'alive' : 'dead';
}

/** Field 22 of /proc/PID/stat; '' for a zombie, which has ended in all but name; undefined when nothing tells. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command in parentheses may hold spaces and parentheses: count fields after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : fields[19];
  } catch {
    return undefined;
  }
}

function pidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
