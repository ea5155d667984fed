// The visit log: one line for each request that left the machine, so that anybody can check afterwards how hosts
// were treated. Written in batches by one writer a process; a crash loses the last second of it at most.
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.js';

/** `sent`: a handler's own, by `sendRequest`, which no turn paced. */
export type VisitKind = 'page' | 'robots' | 'sitemap' | 'sent';

export interface VisitLine {
  /** On the monotonic clock of the boot, in ms: comparable between the processes of a machine. */
  readonly startMs: number;
  readonly endMs: number;
  /** The queue it was paced in: a registrable domain or a host. */
  readonly domain: string;
  readonly kind: VisitKind;
  /** The answer's status, or the code of the failure. */
  readonly status: number | string;
  /** How long the domain had to rest after it. */
  readonly restMs: number;
  /** Whether its domain had one turn, which this request held alone. */
  readonly alone: boolean;
  readonly holder: string;
}

export interface VisitLog {
  write(line: VisitLine): void;
  /** Counts a decision about a URL, such as `skipped robotsTxt`. */
  count(decision: string): void;
  /** The time on the clock that the log uses. */
  now(): number;
  /** Resolves when what was written so far is on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface VisitLogOptions {
  readonly folder: string;
  /** Names the boot the clock counts from. */
  readonly bootId: string;
  readonly maxFileBytes?: number;
  /** Older files of this writer are deleted. */
  readonly maxFiles?: number;
  readonly onError?: (error: Error) => void;
}

export const VISIT_LOG_VERSION = 1;
const VISIT_FILE = /^visits-([0-9a-z]+-[0-9a-f]+)-(\d{6})\.tsv$/;
const DECISIONS_FILE = /^decisions-[0-9a-z]+-[0-9a-f]+\.json$/;
const FLUSH_MS = 1_000;
/** Joined and written at once beyond this many lines. */
const FLUSH_LINES = 1_000;
/** A disk that stands still must not fill the memory: what waits beyond this is dropped and counted. */
const MAX_WAITING = 100_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 16;
/** Reasons are few; a bound all the same. */
const MAX_DECISIONS = 1_000;

/** Opens a log in a folder, made when missing. */
export async function openVisitLog(options: VisitLogOptions): Promise<VisitLog> {
  const { folder, bootId, maxFileBytes = MAX_FILE_BYTES, maxFiles = MAX_FILES } = options;
  await mkdir(folder, PRIVATE_FOLDER);
  const writer = `${process.pid.toString(36)}-${randomBytes(4).toString('hex')}`;
  // performance.now() is the cheaper reading of the same clock.
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  let lines: string[] = [];
  let number = 0;
  let bytes = Infinity;
  let dropped = 0;
  const decisions = new Map<string, number>();
  let hasDecided = false;
  let flushing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const fileOf = (n: number) => path.join(folder, `visits-${writer}-${String(n).padStart(6, '0')}.tsv`);

  async function flush(): Promise<void> {
    await flushLines();
    if (!hasDecided) return;
    hasDecided = false;
    const file = path.join(folder, `decisions-${writer}.json`);
    await writeFile(`${file}.new`, `${JSON.stringify(Object.fromEntries(decisions))}\n`, PRIVATE_FILE);
    await rename(`${file}.new`, file);
  }

  async function flushLines(): Promise<void> {
    while (lines.length > 0) {
      const batch = lines;
      lines = [];
      if (dropped > 0) batch.push(`# dropped ${dropped}\n`);
      dropped = 0;
      let text = batch.join('');
      if (bytes >= maxFileBytes) {
        number++;
        bytes = 0;
        text = headOf(bootId, offsetMs) + text;
        if (number > maxFiles) await rm(fileOf(number - maxFiles), { force: true });
      }
      // Domains are ASCII: a character is a byte.
      bytes += text.length;
      await appendFile(fileOf(number), text, PRIVATE_FILE);
    }
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    flushing ??= flush()
      .catch((error: unknown) => options.onError?.(error as Error))
      .finally(() => {
        flushing = undefined;
      });
  }

  async function flushed(): Promise<void> {
    await flushing;
    start();
    await flushing;
  }

  function schedule(): void {
    timer ??= setTimeout(start, FLUSH_MS).unref();
  }

  return {
    now: () => performance.now() + offsetMs,
    write(line) {
      if (lines.length >= MAX_WAITING) {
        dropped++;
        return;
      }
      lines.push(lineOf(line));
      if (lines.length >= FLUSH_LINES) start();
      else schedule();
    },
    count(decision) {
      if (decisions.size < MAX_DECISIONS || decisions.has(decision)) {
        decisions.set(decision, (decisions.get(decision) ?? 0) + 1);
      }
      hasDecided = true;
      schedule();
    },
    flush: flushed,
    close: flushed,
  };
}

/** What makes the times of a file comparable: the boot, and the wall time at 0 of its clock. */
function headOf(bootId: string, offsetMs: number): string {
  const wallAtZeroMs = Math.round(Date.now() - (performance.now() + offsetMs));
  return `# orcrawl visits ${VISIT_LOG_VERSION}\tboot ${bootId || 'unknown'}\tzero ${wallAtZeroMs}\n`;
}

function lineOf({ startMs, endMs, domain, kind, status, restMs, alone, holder }: VisitLine): string {
  return (
    `${startMs.toFixed(3)}\t${endMs.toFixed(3)}\t${domain.replace(/[^\x21-\x7e]/g, '_')}\t${kind}\t${status}\t` +
    `${Math.ceil(restMs)}\t${alone ? 1 : 'n'}\t${holder}\n`
  );
}

export interface VisitFile {
  readonly path: string;
  /** Which queue it belongs to: the folder it is in. */
  readonly queue: string;
  readonly writer: string;
  readonly number: number;
}

/** The log files under a folder (its own, and those in folders of queues), and the files that count decisions. */
export async function findVisitFiles(folder: string): Promise<{ visits: VisitFile[]; decisions: string[] }> {
  const visits: VisitFile[] = [];
  const decisions: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const inFolder = entry.parentPath ?? folder;
    if (DECISIONS_FILE.test(entry.name)) decisions.push(path.join(inFolder, entry.name));
    const [, writer, number] = VISIT_FILE.exec(entry.name) ?? [];
    if (writer === undefined) continue;
    visits.push({
      path: path.join(inFolder, entry.name),
      queue: path.relative(folder, inFolder) || '.',
      writer,
      number: Number(number),
    });
  }
  visits.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { visits, decisions };
}

/** The line of a file, or undefined when it is none (a comment, or half a line at its end). */
export function readVisitLine(text: string): VisitLine | undefined {
  const parts = text.split('\t');
  if (parts.length !== 8 || text.startsWith('#')) return undefined;
  const [start, end, domain, kind, status, rest, turn, holder] = parts as [string, ...string[]] & { length: 8 };
  const line = { startMs: Number(start), endMs: Number(end), restMs: Number(rest) };
  if (!Object.values(line).every(Number.isFinite)) return undefined;
  return {
    ...line,
    domain: domain!,
    kind: kind as VisitKind,
    status: /^\d+$/.test(status!) ? Number(status) : status!,
    alone: turn === '1',
    holder: holder!,
  };
}
