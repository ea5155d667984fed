// Disks of a test's own that fill up, become read-only or fail: real file systems, unmounted when the test ends.
// Each says why there is none where the machine does not allow it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

function run(program: string, ...args: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? undefined : `${program} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`;
}

/** A tmpfs of so many KiB at `folder`, which is made; otherwise why there is none. */
export function mountSmallDisk(folder: string, sizeKb: number): string | undefined {
  mkdirSync(folder, { recursive: true });
  const refusal = run('mount', '-t', 'tmpfs', '-o', `size=${sizeKb}k`, 'tmpfs', folder);
  if (refusal === undefined) onTestFinished(() => void run('umount', '-l', folder));
  return refusal;
}

export function resizeDisk(folder: string, sizeKb: number): void {
  run('mount', '-o', `remount,size=${sizeKb}k`, folder);
}

export interface DeviceDisk {
  /** What is synced from now on ends with EIO. */
  fail(): void;
  /** As the kernel does after an error of the device: read-only at once, also for files that are open. */
  turnReadOnly(): void;
  /** Mounts it again, writable. */
  repair(): void;
}

/** An ext4 at `folder` on a loop device whose file lies in memory. Otherwise why there is none. */
export function mountDevice(folder: string): DeviceDisk | string {
  const backing = mkdtempSync(join(tmpdir(), 'orcrawl-backing-'));
  const clean: (() => void)[] = [() => rmSync(backing, { recursive: true, force: true })];
  onTestFinished(() => {
    for (const step of clean.reverse()) step();
  });
  mkdirSync(folder, { recursive: true });
  const image = join(backing, 'disk');
  const steps: [string[], (() => void)?][] = [
    [['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', backing], () => void run('umount', '-l', backing)],
    [['truncate', '-s', '20m', image]],
    [['mkfs.ext4', '-q', '-E', 'lazy_itable_init=0,nodiscard', image]],
    [['mount', '-o', 'loop,errors=remount-ro', image, folder], () => void run('umount', '-l', folder)],
  ];
  for (const [[program = '', ...args], undo] of steps) {
    const refusal = run(program, ...args);
    if (refusal !== undefined) return refusal;
    if (undo) clean.push(undo);
  }
  return {
    fail() {
      // The device shrinks below where the files lie: whatever goes there is past its end.
      const [device = ''] = spawnSync('losetup', ['-j', image], { encoding: 'utf8' }).stdout.split(':');
      run('truncate', '-s', '1m', image);
      run('losetup', '-c', device);
    },
    turnReadOnly: () => void run('mount', '-o', 'remount,abort', folder),
    repair() {
      run('umount', folder);
      run('mount', '-o', 'loop', image, folder);
    },
  };
}
