// `--dashboard` and `--open` of crawl, batch and run: the console of this one crawl, for as long as it runs.
// Promise: its address goes to standard error, once, and to a browser only by a private file: not on a command line,
// where other users could read its token.
import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { PRIVATE_FILE } from '../base/private-files.js';
import type { Dashboard, DashboardOptions } from '../serve/console/dashboard.js';
import { complain } from './terminal.js';
import { version } from './version.js';

export interface DashboardFlags {
  readonly dashboard?: boolean;
  readonly open?: boolean;
}

export interface OpenedDashboard extends Pick<Dashboard, 'put' | 'end'> {
  /** While somebody watches at a terminal, it stays until Ctrl-C. */
  close(): Promise<void>;
}

export function addDashboardFlags(command: Command): Command {
  return command
    .option('--dashboard', 'show this crawl in a browser; prints the address (docs/console.md)')
    .option('--open', 'with --dashboard: open the browser, too');
}

export async function startDashboard(
  { dashboard, open }: DashboardFlags,
  options: Omit<DashboardOptions, 'version'>,
): Promise<OpenedDashboard | undefined> {
  if (!dashboard && !open) return undefined;
  const { openDashboard } = await import('../serve/console/dashboard.js');
  const opened = await openDashboard({ ...options, version: version() });
  complain(`Console: ${opened.address}`);
  const door = path.join(options.folder, 'console', 'open.html');
  if (open) await openBrowser(door, opened.address);
  return {
    put: opened.put,
    end: opened.end,
    async close() {
      if (process.stderr.isTTY && opened.watchers > 0) {
        complain('The console stays open. Press Ctrl-C to close it.');
        await interruption(() => opened.watchers === 0);
      }
      await rm(door, { force: true });
      await opened.close();
    },
  };
}

/** Opens a file that only this user can read, and that leads to the address. */
async function openBrowser(door: string, address: string): Promise<void> {
  const text = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${address}"><title>orcrawl</title>`;
  await rm(door, { force: true });
  await writeFile(door, text, { ...PRIVATE_FILE, flag: 'wx' });
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  const child = spawn(program!, [...args, path.resolve(door)], { stdio: 'ignore', detached: true });
  child.on('error', () => complain(`No browser could be opened (${program} is missing). Open the address above.`));
  child.unref();
}

function interruption(isOver: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearInterval(timer);
      process.off('SIGINT', end).off('SIGTERM', end);
      resolve();
    };
    const timer = setInterval(() => isOver() && end(), 500);
    process.on('SIGINT', end).on('SIGTERM', end);
  });
}
