// Named points where a test can kill or stop this process: before and after each write, rename, send and settle.
// Promise: without ORCRAWL_KILL_AT, read once at start, a point costs one comparison and does nothing.
import { writeFileSync } from 'node:fs';

/** Every point, in the order in which a visit meets them. */
export const KILL_POINTS = [
  'frontier.before-add',
  'frontier.after-add',
  'frontier.before-lease',
  'frontier.after-lease',
  'frontier.before-settle',
  'frontier.sent-settle',
  'frontier.after-settle',
  'handoff.before-write',
  'handoff.after-write',
  'handoff.before-take',
  'handoff.after-take',
  'items.before-append',
  'items.after-append',
  'content.before-records',
  'content.before-index',
  'content.after-index',
  'content.before-cut',
  'content.between-cuts',
  'content.after-cut',
  'memory.before-stage',
  'memory.after-stage',
  'content-file.before-write',
  'content-file.before-rename',
  'content-file.after-rename',
  'index-sort.before-write',
  'index-sort.before-rename',
  'index-sort.after-rename',
  'index-sort.after-remove',
  'recovery.before-cut',
  'recovery.after-cut',
  'recovery.after-index',
  'recovery.before-pages-cut',
  'ship.before-segment',
  'ship.amid-upload',
  'ship.after-segment',
  'ship.before-index',
  'ship.after-index',
  'ship.before-drop',
  'ship.between-drops',
  'ship.after-drop',
  'ship-items.before-upload',
  'ship-items.after-upload',
  'ship-items.before-drop',
  'ship-items.after-drop',
  'compact.before-segment',
  'compact.before-index',
  'compact.before-list',
  'compact.before-remove',
  'compact.between-removes',
  'compact.after-remove',
  'outbox.before-send',
  'outbox.before-forget',
  'outbox.after-forget',
  'spill.before-write',
  'spill.before-trim',
  'spill.after-trim',
  'spill.before-refill',
  'spill.after-refill',
  'spill.before-forget',
  'spill.after-forget',
] as const;

export type KillPoint = (typeof KILL_POINTS)[number];

interface Armed {
  /** Passes left before the process ends. */
  left: number;
  /** Created just before the process is struck; one that exists means that somebody was struck here already. */
  readonly ticket: string | undefined;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

const armed = armedBy(process.env['ORCRAWL_KILL_AT']);

/** Kills or stops this process if ORCRAWL_KILL_AT names this point and has counted enough passes. */
export function killPoint(name: KillPoint): void {
  if (armed !== undefined) pass(name, armed);
}

/**
 * `NAME:COUNT[:FILE]`, several separated by commas: the process is killed when it passes NAME for the COUNTth time, or
 * stopped where it says `stop@NAME`. With FILE only the first process that gets there is, and FILE then says which:
 * restarted workers inherit the variable.
 */
function armedBy(text: string | undefined): Map<string, Armed> | undefined {
  if (!text) return undefined;
  const points = new Map<string, Armed>();
  for (const part of text.split(',')) {
    const [, stop, name = '', count = '', ticket] = /^(stop@)?([\w.-]+):(\d+)(?::(.+))?$/.exec(part) ?? [];
    if (!(KILL_POINTS as readonly string[]).includes(name)) throw new Error(`ORCRAWL_KILL_AT: unknown point "${part}"`);
    points.set(name, { left: Number(count), ticket, signal: stop ? 'SIGSTOP' : 'SIGKILL' });
  }
  return points;
}

function pass(name: KillPoint, points: Map<string, Armed>): void {
  const point = points.get(name);
  if (point === undefined || --point.left > 0) return;
  if (point.ticket !== undefined) {
    try {
      writeFileSync(point.ticket, `${process.pid} ${name}\n`, { flag: 'wx' });
    } catch {
      points.delete(name);
      return;
    }
  }
  process.kill(process.pid, point.signal);
}
