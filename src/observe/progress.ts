// The live progress of a crawl on a terminal: one line that is rewritten, or a plain line every few seconds.
// Promise: it only reads figures, never keeps the process alive, and does not garble other output.
import { countOf, countText, durationText, rateText } from './figures.js';
import { escapeControls } from './log-lines.js';

/** The progress of the crawl. */
export interface ProgressFigures {
  readonly done: number;
  readonly failed: number;
  /** Known and not yet ended, without those in progress. */
  readonly queued: number;
  /** In progress now. */
  readonly concurrency: number;
  /** Pages done or failed before this run; not part of the rate. */
  readonly endedBefore?: number;
  /** The host that answered last. */
  readonly host?: string;
}

/** Where lines go: a process stream fits. */
export interface ProgressOutput {
  /** Takes text with control sequences when `isTTY`. */
  write(text: string): unknown;
  /** Whether a live line can be redrawn. */
  readonly isTTY?: boolean;
  /** Width of the terminal; longer lines are cut. */
  readonly columns?: number;
}

export interface ProgressOptions {
  readonly output: ProgressOutput;
  /** The figures now; undefined while there are none. */
  readonly read: () => Promise<ProgressFigures | undefined> | ProgressFigures | undefined;
  /** Monotonic milliseconds, for tests. */
  readonly clock?: () => number;
}

export interface Progress {
  /** Reads the figures and shows them; called by a timer, and by tests. */
  tick(): Promise<void>;
  /** Writes lines above the progress line. */
  print(text: string): void;
  /** Removes the live line; nothing is shown after that. */
  close(): void;
}

const LIVE_INTERVAL_MS = 150;
const PLAIN_INTERVAL_MS = 5_000;
/** The rate covers these last milliseconds: steady but responsive. */
const RATE_WINDOW_MS = 3_000;
const DEFAULT_COLUMNS = 80;
const ERASE_LINE = '\r\u001b[K';
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * Shows the progress of a crawl until it is closed.
 *
 * @example
 * const progress = startProgress({ output: process.stderr, read: () => figures });
 * progress.print('a note\n');
 * progress.close();
 */
export function startProgress({ output, read, clock = () => performance.now() }: ProgressOptions): Progress {
  const isLive = output.isTTY === true;
  const rate = createRate(clock);
  const startedAtMs = clock();
  let shown = '';
  let turns = 0;
  let closed = false;
  let reading = false;

  async function tick(): Promise<void> {
    // Slow answers must not pile up.
    if (closed || reading) return;
    reading = true;
    try {
      const figures = await read();
      if (figures) show(figures);
    } catch {
      // The crawl reports its own errors; the line stays unchanged.
    } finally {
      reading = false;
    }
  }

  function show(figures: ProgressFigures): void {
    if (closed) return;
    const text = progressText(
      figures,
      rate(figures.done + figures.failed - (figures.endedBefore ?? 0)),
      clock() - startedAtMs,
    );
    if (!isLive) return void output.write(`${text}\n`);
    const spinner = SPINNER[turns++ % SPINNER.length] as string;
    shown = clip(`${spinner} ${text}`, (output.columns ?? DEFAULT_COLUMNS) - 1);
    output.write(ERASE_LINE + shown);
  }

  const timer = setInterval(() => void tick(), isLive ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS).unref();

  return {
    tick,
    print(text) {
      output.write(shown === '' ? text : ERASE_LINE + text + shown);
    },
    close() {
      clearInterval(timer);
      if (!closed && shown !== '') output.write(ERASE_LINE);
      closed = true;
      shown = '';
    },
  };
}

/** `214 pages · 86 queued · 2 failed · 118/s · 40 at once · 1.8 s · example.com` */
export function progressText(figures: ProgressFigures, pagesPerSec: number, elapsedMs: number): string {
  const parts = [
    countOf(figures.done, 'page'),
    `${countText(figures.queued)} queued`,
    `${countText(figures.failed)} failed`,
    `${rateText(pagesPerSec)}/s`,
    workText(figures),
    durationText(elapsedMs),
  ];
  if (figures.host !== undefined) parts.push(escapeControls(figures.host));
  return parts.join(' · ');
}

/** Between two requests to paced hosts, and while a robots.txt is read, no page is in progress. */
function workText({ concurrency, queued, done, failed }: ProgressFigures): string {
  if (concurrency > 0) return `${countText(concurrency)} at once`;
  return queued + done + failed === 0 ? 'starting' : 'waiting for hosts';
}

/** Pages per second over the last moments, from a start with none. */
export function createRate(clock: () => number): (ended: number) => number {
  const readings = [{ atMs: clock(), ended: 0 }];
  return (ended) => {
    const atMs = clock();
    readings.push({ atMs, ended });
    while (readings.length > 2 && (readings[1] as { atMs: number }).atMs <= atMs - RATE_WINDOW_MS) readings.shift();
    const first = readings[0] as { atMs: number; ended: number };
    return atMs > first.atMs ? (1000 * (ended - first.ended)) / (atMs - first.atMs) : 0;
  };
}

function clip(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
