// What a supervisor learns of a worker whose event loop is blocked: from the worker's own watching thread, while it blocks.
// Promise: the page is in the log before the worker is killed for it, and only a page that is known for sure is charged.
import type { Readable, Writable } from 'node:stream';
import { blockedLine, freedLine } from '../../base/loop-watch/reports.js';
import type { BlockReport } from '../../base/loop-watch/watching.js';
import type { Blame } from '../../frontier/frontier.js';
import type { Log } from '../../observe/log.js';

/** A report names at most 64 visits. */
const MAX_LINE = 100_000;

export function hearBlocks(
  stream: Readable | Writable | null | undefined,
  name: string,
  log: Log,
  onReport: (report: BlockReport) => void,
): void {
  let rest = '';
  const pipe = stream as Readable;
  pipe.on('error', () => undefined);
  pipe.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split('\n');
    rest = lines.pop()!.slice(-MAX_LINE);
    for (const line of lines) {
      const report = parsed(line);
      if (!report) continue;
      const tell = report.kind === 'blocked' ? blockedLine(report) : freedLine(report);
      log[report.kind === 'blocked' ? 'error' : 'warning'](`${name}: ${tell}`, { code: 'VISIT_BLOCKED_LOOP' });
      onReport(report);
    }
  });
}

function parsed(line: string): BlockReport | undefined {
  try {
    return JSON.parse(line) as BlockReport;
  } catch {
    // User code may write to any descriptor.
    return undefined;
  }
}

/**
 * Whose fault the end of a blocked worker is. A page that blocked it until it was killed for its silence fails; one that
 * blocked it when it ended for another reason is suspected alone.
 */
export function blameOf({ visits, isCertain }: BlockReport, isStuck: boolean): Blame | undefined {
  const leases = visits.map(({ lease }) => lease).filter((lease) => lease > 0);
  if (leases.length === 0) return undefined;
  return { leases, ...(isCertain && isStuck && { code: 'VISIT_BLOCKED_LOOP' }) };
}
