// bench/RESULTS.md: one section a measurement, each with the machine, the date and the command that made it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import type { Figure } from './measure.js';

const FILE = new URL('./RESULTS.md', import.meta.url);
const HEAD =
  '# Results\n\nWritten by `npm run measure -- NAME`. Machines are shared and noisy: compare ratios within one run.\n';

function section(name: string, title: string, command: string, figures: readonly Figure[]): string {
  const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim() ?? 'CPU'}, Node ${process.version}`;
  const rows = figures.map(({ what, measured, goal }) => `| ${what} | ${measured} | ${goal} |`);
  return [
    `<!-- ${name} -->`,
    `## ${name}: ${title}`,
    `\`${command}\`, ${new Date().toISOString().slice(0, 10)}, ${machine}`,
    '',
    '| what | measured | goal |',
    '|---|---|---|',
    ...rows,
    `<!-- /${name} -->`,
  ].join('\n');
}

export const results = {
  /** Replaces the section of that name, or appends it. */
  write(name: string, title: string, command: string, figures: readonly Figure[]): void {
    const before = existsSync(FILE) ? readFileSync(FILE, 'utf8') : HEAD;
    const text = section(name, title, command, figures);
    const known = new RegExp(`<!-- ${name} -->[\\s\\S]*<!-- /${name} -->`);
    writeFileSync(FILE, known.test(before) ? before.replace(known, () => text) : `${before.trimEnd()}\n\n${text}\n`);
  },
};
