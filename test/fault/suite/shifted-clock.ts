// A wall clock that jumps, for processes that are started with it: real programs, a shifted gettimeofday and clock_gettime.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Why no clock can be shifted here; undefined when one can. */
export const clockMissing: string | undefined =
  process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0
    ? undefined
    : 'shifting a clock needs Linux and a C compiler (apt-get install gcc libc6-dev)';

export interface ShiftedClock {
  /** For the processes that shall see it. */
  readonly env: Readonly<Record<string, string>>;
  set(shiftSecs: number): void;
}

const SOURCE = fileURLToPath(new URL('../web/shifted-clock.c', import.meta.url));

export function shiftedClock(folder: string): ShiftedClock {
  const library = path.join(folder, 'shifted-clock.so');
  const file = path.join(folder, 'clock');
  if (!existsSync(library)) {
    const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`no shifted clock: ${stderr}`);
  }
  writeFileSync(file, Buffer.alloc(8));
  return {
    env: { LD_PRELOAD: library, SHIFTED_CLOCK: file },
    set(shiftSecs) {
      // In place: it is mapped into the processes.
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(shiftSecs));
      const open = openSync(file, 'r+');
      writeSync(open, bytes, 0, 8, 0);
      closeSync(open);
    },
  };
}
