// With ORCRAWL_TEST_COST=FILE, `npm test` writes a line per test file: the CPU seconds of its worker and of all processes
// that it started and that have ended, and the file. `sort -rn FILE` shows where the time goes (decision 045).
import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/** /proc counts in these. */
const TICKS_PER_SEC = 100;

const report = process.env.ORCRAWL_TEST_COST;
const file = expect.getState().testPath ?? '?';
if (report !== undefined) {
  // vitest ends its workers without an 'exit' event.
  afterAll(() => {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    appendFileSync(report, `${(ticks / TICKS_PER_SEC).toFixed(1)} ${file}\n`);
  });
}
