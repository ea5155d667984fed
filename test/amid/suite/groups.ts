// All kinds through one way in few runs: hostile kinds go in groups among the same 40 good pages, which is harder for
// the good ones. A group with a loss, an endless page or more CPU than one kind may take is halved, until single kinds
// are left: so what holds for a group holds for each of its kinds, and what fails is named.
import { runCase, type CaseOptions, type Verdict } from './suite.js';
import type { Kind } from './web.js';

/** Beyond the good pages alone, for one hostile page or host. */
export const MAX_CPU_MS = 10_000;

export interface WayReport {
  readonly runs: number;
  readonly kinds: number;
  /** Of single kinds. */
  readonly bad: readonly Verdict[];
  /** The most that a run which passed took beyond the good pages: an upper limit for each of its kinds. */
  readonly mostCpuMs: number;
  readonly ends: Readonly<Record<string, string>>;
}

export interface GroupOptions extends Omit<CaseOptions, 'kinds'> {
  readonly kinds: readonly Kind[];
  readonly groupSize: number;
  readonly onRun?: (verdict: Verdict, isGood: boolean) => void;
}

export async function runInGroups({ kinds, groupSize, onRun, ...rest }: GroupOptions): Promise<WayReport> {
  const alone = await runCase({ ...rest, kinds: [] });
  onRun?.(alone, alone.lost.length === 0);
  const waiting: (readonly Kind[])[] = [];
  for (let at = 0; at < kinds.length; at += groupSize) waiting.push(kinds.slice(at, at + groupSize));
  const bad: Verdict[] = [];
  const ends: Record<string, string> = {};
  let runs = 1;
  let mostCpuMs = 0;
  for (let group = waiting.shift(); group; group = waiting.shift()) {
    const verdict = await runCase({ ...rest, kinds: group });
    runs++;
    const cpuMs = Math.max(0, verdict.cpuMs - alone.cpuMs);
    const isGood = verdict.lost.length + verdict.mixedUp.length + verdict.endless.length === 0 && cpuMs <= MAX_CPU_MS;
    onRun?.(verdict, isGood);
    if (isGood) {
      mostCpuMs = Math.max(mostCpuMs, cpuMs);
      Object.assign(ends, verdict.ends);
    } else if (group.length > 1) {
      const middle = Math.ceil(group.length / 2);
      waiting.unshift(group.slice(0, middle), group.slice(middle));
    } else {
      bad.push(verdict);
      Object.assign(ends, verdict.ends);
    }
  }
  return { runs, kinds: kinds.length, bad, mostCpuMs, ends };
}
