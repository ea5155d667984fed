// The thread that watches the event loop of its process. While the loop is blocked it writes to a file descriptor, since
// nothing else gets out then; when the loop turns again it tells the loop. Parked while nobody wants to know.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { blockedLine } from './reports.js';
import { HEAD, shareMarks } from './shared-marks.js';
import { createWatching } from './watching.js';

export interface ThreadData {
  readonly buffer: SharedArrayBuffer;
  readonly tickMs: number;
  /** Where reports go as lines of JSON; undefined: to standard error, as a line for people. */
  readonly reportFd: number | undefined;
}

const { buffer, tickMs, reportFd } = workerData as ThreadData;
const marks = shareMarks(buffer);
const look = createWatching(marks, tickMs);
const pause = new Int32Array(new SharedArrayBuffer(4));

for (;;) {
  // Parked until somebody sets a limit.
  Atomics.wait(marks.head, HEAD.limitMs, 0);
  Atomics.wait(pause, 0, 0, tickMs);
  const report = look();
  if (!report) continue;
  Atomics.store(marks.head, HEAD.told, 1);
  try {
    if (reportFd !== undefined) writeSync(reportFd, `${JSON.stringify(report)}\n`);
    else if (report.kind === 'blocked') writeSync(2, `${blockedLine(report)}\n`);
  } catch {
    // Nobody reads: the loop itself is told when it turns again.
  }
  if (report.kind === 'freed') parentPort!.postMessage(report);
}
