// bench/RESULTS.md: one section per measurement, each with the machine, the date and the command.
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

function rowsOf(text: string): Figure[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(1).map((row) => {
    const [what = '', measured = '', goal = ''] = row.slice(2, -2).split(' | ');
    return { what, measured, goal };
  });
}

const isAmong = (figures: readonly Figure[], { what }: Figure): boolean => figures.some((one) => one.what === what);

export const results = {
  /** Replaces the section of that name, or appends it. A part of a measurement keeps the rows of the other parts. */
  write(name: string, title: string, command: string, figures: readonly Figure[], isPart: boolean): void {
    const before = existsSync(FILE) ? readFileSync(FILE, 'utf8') : HEAD;
    const known = new RegExp(`<!-- ${name} -->[\\s\\S]*<!-- /${name} -->`);
    const others = isPart ? rowsOf(known.exec(before)?.[0] ?? '').filter((row) => !isAmong(figures, row)) : [];
    const text = section(name, title, command, [...others, ...figures]);
    writeFileSync(FILE, known.test(before) ? before.replace(known, () => text) : `${before.trimEnd()}\n\n${text}\n`);
  },
};
