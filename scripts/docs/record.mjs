// Records a command in a real terminal as an animated SVG: node scripts/docs/record.mjs docs/demo.svg demo
// Promise: the picture shows what the program wrote, line for line; without animation it shows the end.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createScreen } from './screen.mjs';
import { terminalSvg } from './terminal-svg.mjs';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const COLUMNS = 110;
const ROWS = 60;
/** Frames kept of what changes while the program runs. */
const MOST_FRAMES = 30;

/** Screens of a program, each with its moment, in milliseconds since the start. */
function record(args, cwd) {
  const line = `stty cols ${COLUMNS} rows ${ROWS}; exec "${process.execPath}" "${MAIN}" ${args.join(' ')}`;
  // `script` gives the program a terminal, as a person has one.
  const child = spawn('script', ['-qefc', line, '/dev/null'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const screen = createScreen(COLUMNS);
  const frames = [];
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      screen.write(text);
      frames.push({ atMs: performance.now() - startMs, lines: screen.lines() });
    });
    child.on('close', () => resolve(frames));
  });
}

/** Every screen that differs from the one before, at most so many, and always the last. */
function fewer(frames) {
  const distinct = frames.filter(
    ({ lines }, at) => at === 0 || JSON.stringify(lines) !== JSON.stringify(frames[at - 1].lines),
  );
  const step = Math.ceil(distinct.length / MOST_FRAMES);
  return distinct.filter((_, at) => at % step === 0 || at === distinct.length - 1);
}

const [file, ...args] = process.argv.slice(2);
const cwd = mkdtempSync(path.join(tmpdir(), 'orcrawl-record-'));
try {
  const frames = fewer(await record(args, cwd));
  const command = `npx orcrawl ${args.join(' ')}`;
  writeFileSync(file, terminalSvg({ command, frames, columns: COLUMNS }));
  console.log(`${file}: ${frames.length} frames, ${frames.at(-1).lines.length} lines`);
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
