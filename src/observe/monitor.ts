// Shows the progress of batches: a live table of URLs, or one summary; plain lines without a terminal.
// Promise: it only watches, never keeps the process alive, and shows untrusted text escaped and cut to the line.
import { aWholeNumber, checkOptions, objectWith, oneOf } from '../option-checks.js';
import type { TaskEnd, TaskMonitor } from '../dispatch/dispatcher.js';
import { bytesText, countText, durationText, rateText } from './figures.js';
import { hideLogins } from '../request/login.js';
import { escapeControls } from './log-lines.js';
import type { ProgressOutput } from './progress.js';

/**
 * What a monitor shows.
 *
 * @example
 * const monitor = new CrawlerMonitor({ displayMode: DisplayMode.AGGREGATED });
 */
export const DisplayMode = Object.freeze({
  /** A row per URL. */
  DETAILED: 'detailed',
  /** One summary. */
  AGGREGATED: 'aggregated',
} as const);
export type DisplayMode = (typeof DisplayMode)[keyof typeof DisplayMode];

/** What a `CrawlerMonitor` shows, and where. */
export interface CrawlerMonitorOptions {
  /** Default `DisplayMode.DETAILED`. */
  displayMode?: DisplayMode;
  /** Rows of the table. Default 15. */
  maxVisibleRows?: number;
  /** Where it is shown (ours). Default: standard error. */
  output?: ProgressOutput;
}

interface Row {
  readonly url: string;
  readonly startedAtMs: number;
  end?: TaskEnd & { readonly atMs: number };
}

const LIVE_INTERVAL_MS = 200;
const PLAIN_INTERVAL_MS = 5_000;
const DEFAULT_COLUMNS = 80;
const UP_AND_CLEAR = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\u001b[J`);

/**
 * Shows the URLs of batches while they are in work.
 *
 * @example
 * const monitor = new CrawlerMonitor({ displayMode: DisplayMode.AGGREGATED });
 * await crawler.runMany(urls, {}, new SemaphoreDispatcher({ monitor }));
 */
export class CrawlerMonitor implements TaskMonitor {
  readonly #mode: DisplayMode;
  readonly #maxRows: number;
  readonly #output: ProgressOutput;
  readonly #clock: () => number;
  /** Running, and the last ones that ended, oldest first. */
  readonly #rows = new Map<string, Row>();
  #counts = { queued: 0, active: 0, done: 0, failed: 0, bytes: 0 };
  #memory: { percent: number; isPaused: boolean } | undefined;
  readonly #cpuMs: () => number;
  #cpuStartMs = 0;
  #batches = 0;
  #startedAtMs = 0;
  #shownLines = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    options: CrawlerMonitorOptions = {},
    parts: { readonly clock?: () => number; readonly cpuMs?: () => number } = {},
  ) {
    checkOptions('CrawlerMonitor', options, {
      displayMode: oneOf(Object.values(DisplayMode)),
      maxVisibleRows: aWholeNumber({ from: 1, to: 1000 }),
      output: objectWith('a stream', ['write']),
    });
    this.#mode = options.displayMode ?? DisplayMode.DETAILED;
    this.#maxRows = options.maxVisibleRows ?? 15;
    this.#output = options.output ?? process.stderr;
    this.#clock = parts.clock ?? (() => performance.now());
    this.#cpuMs = parts.cpuMs ?? usedCpuMs;
  }

  /** @internal */
  begin(): () => void {
    if (this.#batches++ === 0) {
      this.#startedAtMs = this.#clock();
      this.#cpuStartMs = this.#cpuMs();
      this.#counts = { queued: 0, active: 0, done: 0, failed: 0, bytes: 0 };
      this.#rows.clear();
      const everyMs = this.#isLive ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS;
      this.#timer = setInterval(() => this.show(), everyMs).unref();
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#batches > 0) return;
      clearInterval(this.#timer);
      this.#redraw(this.#mode === DisplayMode.DETAILED && this.#isLive ? this.#table() : []);
      this.#output.write(`${this.summary()}\n`);
      this.#shownLines = 0;
    };
  }

  /** @internal */
  queued(): void {
    this.#counts.queued++;
  }

  /** @internal */
  started(taskId: string, url: string): void {
    if (this.#rows.get(taskId)?.end === undefined && this.#rows.has(taskId)) return;
    this.#counts.active++;
    this.#rows.set(taskId, { url, startedAtMs: this.#clock() });
  }

  /** @internal */
  ended(taskId: string, end: TaskEnd): void {
    const row = this.#rows.get(taskId) ?? { url: taskId, startedAtMs: this.#clock() };
    if (this.#rows.has(taskId)) this.#counts.active--;
    this.#counts.queued--;
    this.#counts[end.success ? 'done' : 'failed']++;
    this.#counts.bytes += end.bytes;
    this.#rows.delete(taskId);
    const ended = { ...row, end: { ...end, atMs: this.#clock() } };
    if (this.#mode === DisplayMode.DETAILED && !this.#isLive) this.#output.write(`${this.#line(ended)}\n`);
    if (this.#mode !== DisplayMode.DETAILED || !this.#isLive) return;
    this.#rows.set(taskId, ended);
    this.#forgetOldRows();
  }

  /** @internal */
  memory(percent: number, isPaused: boolean): void {
    this.#memory = { percent, isPaused };
  }

  /** Shows the state now; called by a timer, and by tests. */
  show(): void {
    if (!this.#isLive) {
      if (this.#mode === DisplayMode.AGGREGATED) this.#output.write(`${this.summary()}\n`);
      return;
    }
    this.#redraw(this.#mode === DisplayMode.DETAILED ? [...this.#table(), this.summary()] : [this.summary()]);
  }

  /** Removes what is shown live, so that something else can be written to the same terminal; the next look is below it. */
  clear(): void {
    if (this.#shownLines === 0) return;
    this.#output.write(UP_AND_CLEAR(this.#shownLines));
    this.#shownLines = 0;
  }

  /** `12 done · 1 failed · 5 running · 80 waiting · 31/s · 4.2 MB · memory 61 % · cpu 40 % · 3.1 s` */
  summary(): string {
    const { queued, active, done, failed, bytes } = this.#counts;
    const elapsedMs = this.#clock() - this.#startedAtMs;
    const parts = [
      `${countText(done)} done`,
      `${countText(failed)} failed`,
      `${countText(active)} running`,
      `${countText(Math.max(0, queued - active))} waiting`,
      `${rateText(elapsedMs > 0 ? (1000 * (done + failed)) / elapsedMs : 0)}/s`,
      bytesText(bytes),
    ];
    if (this.#memory)
      parts.push(`memory ${Math.round(this.#memory.percent)} %${this.#memory.isPaused ? ', paused' : ''}`);
    // Of one core; browsers are processes of their own.
    if (elapsedMs > 0) parts.push(`cpu ${Math.round((100 * (this.#cpuMs() - this.#cpuStartMs)) / elapsedMs)} %`);
    parts.push(durationText(elapsedMs));
    return parts.join(' · ');
  }

  get #isLive(): boolean {
    return this.#output.isTTY === true;
  }

  /** The running URLs and the last that ended, as many as there are rows. */
  #table(): string[] {
    return [...this.#rows.values()].slice(-this.#maxRows).map((row) => this.#line(row));
  }

  #line({ url, startedAtMs, end }: Row): string {
    const tookText = durationText((end?.atMs ?? this.#clock()) - startedAtMs).padStart(8);
    const state = end === undefined ? 'running' : end.success ? `done ${end.statusCode}` : `failed ${end.errorCode}`;
    const size = end?.success ? bytesText(end.bytes).padStart(8) : ''.padStart(8);
    return `${state.padEnd(24)} ${tookText} ${size}  ${escapeControls(hideLogins(url.slice(0, 2000)))}`;
  }

  #forgetOldRows(): void {
    let left = this.#rows.size - this.#counts.active - this.#maxRows;
    for (const [taskId, row] of this.#rows) {
      if (left <= 0) return;
      if (row.end === undefined) continue;
      this.#rows.delete(taskId);
      left--;
    }
  }

  #redraw(lines: readonly string[]): void {
    // A wrapped line would be two, and the next redraw would leave one of them.
    const columns = (this.#output.columns ?? DEFAULT_COLUMNS) - 1;
    const cut = (line: string) => (line.length <= columns ? line : `${line.slice(0, columns - 1)}…`);
    const text = lines.map((line) => `${cut(line)}\n`).join('');
    if (text !== '' || this.#shownLines > 0) this.#output.write(UP_AND_CLEAR(this.#shownLines) + text);
    this.#shownLines = lines.length;
  }
}

/** CPU time of this process so far. */
function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
