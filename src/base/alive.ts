// Whether a process of this machine lives. Pids are reused: who noted the start of one is told when another has its pid.
import { readFileSync } from 'node:fs';

/**
 * One of another user lives, though we may not signal it. With `started` (see `startOf`) only the process that started
 * then counts.
 */
export function isAlive(pid: number, started?: string): boolean {
  if (started) {
    const now = startOf(pid);
    if (now !== undefined) return now === started;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process started, in kernel ticks (field 22 of /proc/PID/stat); '' for a zombie, which counts as dead;
 * undefined where that is not known. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command in parentheses may contain spaces and parentheses: count fields after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : fields[19];
  } catch {
    return undefined;
  }
}
