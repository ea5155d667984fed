// Which process has a queue open, and whether it is still alive: so a dead owner's work returns at once.
// A pid alone proves nothing (pids are reused, and every container has a pid 1), so start time, pid namespace and boot
// are compared, too. A host name proves nothing either (cloned images share it); in doubt, leases expire.
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { threadId } from 'node:worker_threads';
import { isAlive, startOf } from '../base/alive.js';
import { systemClock } from './embedded/clock.js';

/** What tells one opening of one process from any other, on this machine or elsewhere. */
export interface ProcessIdentity {
  /** The process id. */
  readonly pid: number;
  /** The worker thread; 0 is the main one. */
  readonly thread: number;
  /** The name of the machine. */
  readonly host: string;
  /** The id of the machine's boot; '' if the platform has none. */
  readonly bootId: string;
  /** The pid namespace on Linux; '' elsewhere. */
  readonly pidSpace: string;
  /** The process's start in kernel ticks on Linux; '' elsewhere. */
  readonly started: string;
  /** Unique among all openings of all processes. */
  readonly token: string;
}

/** Whether a process still has its queue open, as far as can be told from here. */
export type Life = 'alive' | 'dead' | 'unknown';

/** Who can open a queue: processes of one `machine` (a file), or of any (a server on the `network`). */
export type Reach = 'machine' | 'network';

export function identifyProcess(bootId: string, token: string): ProcessIdentity {
  return {
    pid: process.pid,
    thread: threadId,
    host: hostname(),
    bootId,
    pidSpace: pidSpace(),
    started: ownStart(),
    token,
  };
}

/** Tokens of this process's openings that are not closed; shared by every copy of this module in the process. */
export function openTokens(): Set<string> {
  const key = Symbol.for('orcrawl.frontier.openTokens');
  const shared = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  return (shared[key] ??= new Set());
}

/** Whether the process with this `identity` still has the queue open. */
export function lifeOf(identity: ProcessIdentity, bootId: string, reach: Reach): Life {
  if (identity.bootId !== bootId) {
    // A new boot of this machine ended all its processes. Over a network it may be another machine with the same name
    // that is still running.
    return reach === 'machine' && identity.host === hostname() ? 'dead' : 'unknown';
  }
  if (reach === 'network' && bootId === '') return openTokens().has(identity.token) ? 'alive' : 'unknown';
  if (identity.pidSpace !== pidSpace()) return 'unknown';
  if (identity.pidSpace === '' && identity.host !== hostname()) return 'unknown';
  if (identity.pid === process.pid && identity.started === ownStart()) {
    if (identity.thread === threadId) return openTokens().has(identity.token) ? 'alive' : 'dead';
    return 'unknown';
  }
  const started = startOf(identity.pid);
  if (started !== undefined && identity.started !== '') return started === identity.started ? 'alive' : 'dead';
  return isAlive(identity.pid) ? 'alive' : 'dead';
}

/**
 * Who has a queue open, and whether that process still lives: so that a backend of your own can take back at once what a
 * dead process held. An opening puts its token into `openTokens()` and takes it out when it is closed.
 *
 * @example
 * const bootId = processLife.bootId();
 * const identity = processLife.identify(bootId, 'unique among all openings');
 * processLife.openTokens().add(identity.token);
 * const isDead = processLife.of(identity, bootId, 'network') === 'dead';
 */
export const processLife = {
  /** Of this machine; '' where the platform has none. */
  bootId: (): string => systemClock.bootId,
  identify: identifyProcess,
  of: lifeOf,
  openTokens,
} as const;

/** Neither changes while this process lives, and every batch opens a queue: files of /proc are read once. */
let space: string | undefined;
let start: string | undefined;

function ownStart(): string {
  return (start ??= startOf(process.pid) ?? '');
}

function pidSpace(): string {
  return (space ??= readPidSpace());
}

function readPidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
