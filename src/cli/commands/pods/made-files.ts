// Writes the files that `compose` and `k8s` make.
// Promise: a file that is not theirs is never overwritten unasked, and then nothing is written at all.
import { access, chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { PRIVATE_FILE } from '../../../base/private-files.js';
import { UsageError } from '../../exit-codes.js';
import { say, shown } from '../../terminal.js';

export interface WritingFlags {
  /** Keep existing files under another name. */
  readonly backup?: boolean;
  /** Overwrite files of others. */
  readonly force?: boolean;
}

/** `isOurs`: a file that exists may be replaced. `isSecret`: only its owner may read it. */
export async function writeMade(
  files: ReadonlyMap<string, string>,
  flags: WritingFlags,
  isOurs: (file: string) => boolean | Promise<boolean>,
  isSecret: (file: string) => boolean = () => false,
): Promise<void> {
  if (!flags.backup && !flags.force) await refuseForeign(files, isOurs);
  for (const [file, text] of files) {
    if (flags.backup) await keepOld(file);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, isSecret(file) ? PRIVATE_FILE : undefined);
    // The mode of writeFile is only for a file that is new.
    if (isSecret(file)) await chmod(file, PRIVATE_FILE.mode);
  }
  say(`Wrote ${[...files.keys()].map((file) => shown(file)).join('\n      ')}`);
}

async function refuseForeign(
  files: ReadonlyMap<string, string>,
  isOurs: (file: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const [file, text] of files) {
    const there = await textOf(file);
    if (there === undefined || there === text || (await isOurs(file))) continue;
    throw new UsageError(
      `${shown(file)} exists and would be overwritten: nothing was written. Use --backup to keep it under another name, ` +
        '--force to overwrite it, or another --output',
    );
  }
}

const textOf = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

export async function startsWith(file: string, mark: string): Promise<boolean> {
  return (await textOf(file))?.startsWith(mark) === true;
}

/** Renames a file to the first free name with .bak. */
async function keepOld(file: string): Promise<void> {
  const exists = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );
  if (!(await exists(file))) return;
  let kept = `${file}.bak`;
  for (let n = 1; await exists(kept); n++) kept = `${file}.bak${n}`;
  await rename(file, kept);
  say(`Kept the old ${shown(basename(file))} as ${shown(basename(kept))}`);
}
