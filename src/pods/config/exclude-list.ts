// Domains to skip, from a file that may change during the crawl.
// Promise: a change takes effect within seconds; if the file becomes unreadable or invalid, the last good list stays.
import { stat } from 'node:fs/promises';
import { CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import { loadDomainList } from '../../politeness/domain-list.js';
import { createDomainRules, type DomainReason } from '../../politeness/domain-rules.js';

export interface ExcludeList {
  refusal(url: string): DomainReason | undefined;
  close(): void;
}

const LOOK_MS = 5_000;

/** Rejects with `OPTION_INVALID` if the file cannot be read at the start. */
export async function watchExcludeFile(file: string | undefined, log: Log, lookMs = LOOK_MS): Promise<ExcludeList> {
  if (file === undefined) return { refusal: () => undefined, close: () => undefined };
  let seen = await stampOf(file);
  let rules = createDomainRules({ exclude: await loadDomainList(file) });
  let looking = false;

  async function look(): Promise<void> {
    const stamp = await stampOf(file!);
    if (stamp === seen) return;
    seen = stamp;
    const list = await loadDomainList(file!);
    rules = createDomainRules({ exclude: list });
    log.info(`Read ${file} again: ${list.length} domains are excluded`);
  }

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look()
      .catch((error: unknown) => log.warning(`Keeping the old exclude list: ${(error as Error).message}`))
      .finally(() => (looking = false));
  }, lookMs).unref();

  return { refusal: (url) => rules.refusal(url), close: () => clearInterval(timer) };
}

/** Changes when the file does. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (cause) {
    throw new CrawlError('OPTION_INVALID', `cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
}
