// Runs of the canary suite: a web for each, a folder to work in, and a look at the list of processes meanwhile.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Started, until } from '../integration/cli-process.js';
import { temporaryFolder } from '../support/crawl.js';
import { canaryProcesses, type CanaryWeb, startCanaryWeb } from './canary-web.js';

export async function startWeb(): Promise<{ web: CanaryWeb; cwd: string; env: Record<string, string> }> {
  const folder = await temporaryFolder();
  const web = await startCanaryWeb(folder);
  onTestFinished(() => web.close());
  const cwd = join(folder, 'work');
  mkdirSync(cwd);
  return { web, cwd, env: { NODE_EXTRA_CA_CERTS: web.caFile, CANARY_OF_THE_ENVIRONMENT: 'canary-environment' } };
}

/** Looks at the list of processes until the program ends. */
export async function watched(started: Started): Promise<{ shown: string; code: number | null; listed: string[] }> {
  const listed = new Set<string>();
  let isOver = false;
  const ended = started.ended.finally(() => (isOver = true));
  // Between the start of a process and its first line of code its arguments are as they were typed.
  await Promise.race([ended, until(() => started.stderr().length + started.stdout().length > 0, 'it says something')]);
  while (!isOver) {
    for (const line of canaryProcesses()) listed.add(line);
    await Promise.race([ended, new Promise((resume) => setTimeout(resume, 300))]);
  }
  const { stdout, stderr, code } = await ended;
  return { shown: stdout + stderr, code, listed: [...listed] };
}
