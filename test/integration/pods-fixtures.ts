// A folder per test, and the program run in it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { type Ended, MAIN, startNode } from './cli-process.js';

/** Makes a folder before each test and removes it afterwards. */
export function inFolder(): () => string {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orcrawl-pods-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return () => folder;
}

/** `orcrawl …args` in `cwd`: crawls in a process of their own, other commands in this one. */
export function run(cwd: string, args: readonly string[]): Promise<Ended> {
  return args[0] === 'run' ? startNode([MAIN, ...args], { cwd }).ended : orcrawlHere(args, { cwd });
}
