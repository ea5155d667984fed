// Formats and writes log entries: text for people (ours), JSON lines for machines (pino).
// Promise: one entry never forges another; control characters from crawled content are escaped; no URL shows a password.
import { createRequire } from 'node:module';
import type { DestinationStream, Logger as PinoLogger, pino as Pino } from 'pino';
import { LOG_LEVEL_NAMES } from '../configuration.js';
import { hideLogins } from '../request/login.js';

/** One event to be written. */
export interface LogEntry {
  /** A LogLevel above OFF. */
  readonly level: number;
  /** Of the log and its parents; undefined without one. */
  readonly prefix: string | undefined;
  /** May hold what a page said: escape it where control characters matter. */
  readonly message: string;
  /** Facts beside the message. */
  readonly data: Readonly<Record<string, unknown>> | undefined;
  /** What was logged by `exception()`. */
  readonly exception: unknown;
}

/** Where entries go. */
export interface LogWriter {
  /** Writes one entry. What it throws is dropped: logging never ends a crawl. */
  write(entry: LogEntry): void;
}

/** Writes complete lines: to standard output, or standard error for warnings and errors. */
export type LineOutput = (line: string, isProblem: boolean) => void;

// WARNING and everything more severe, as Crawlee: those go to standard error.
const LEAST_PROBLEM = LOG_LEVEL_NAMES.indexOf('WARNING');
const SOFT_FAIL = LOG_LEVEL_NAMES.indexOf('SOFT_FAIL');
/** Longer strings in an entry's data are cut. */
const MAX_STRING_CHARS = 2_000;
const MAX_DATA_CHARS = 20_000;
const MAX_CAUSES = 5;

export function isProblem(level: number): boolean {
  return level <= LEAST_PROBLEM && level !== SOFT_FAIL;
}

/** Writes to the process's streams synchronously, so that nothing is lost when it dies. */
export const processOutput: LineOutput = (line, problem) => {
  (problem ? process.stderr : process.stdout).write(line);
};

const LABELS = ['', 'ERROR', 'SFAIL', 'WARN ', 'INFO ', 'DEBUG', 'PERF '];
const COLOURS = [0, 31, 31, 33, 32, 34, 35];
const YELLOW = 33;
const GREY = 90;

/** `INFO  CheerioCrawler: message {"data":1}`; an exception adds indented lines. */
export function createTextWriter(output: LineOutput, colours: (isProblem: boolean) => boolean): LogWriter {
  return {
    write(entry) {
      const problem = isProblem(entry.level);
      const paint = colours(problem) ? painted : plain;
      const label = paint(LABELS[entry.level] ?? '', COLOURS[entry.level] ?? 0);
      const prefix = entry.prefix === undefined ? '' : paint(` ${escapeControls(entry.prefix)}:`, YELLOW);
      const data = entry.data === undefined ? '' : paint(` ${dataText(entry.data)}`, GREY);
      output(
        `${label}${prefix} ${escapeControls(hideLogins(entry.message))}${data}\n${exceptionText(entry.exception, paint)}`,
        problem,
      );
    },
  };
}

/** One JSON object per line: time, level, msg, then the entry's data. pino is loaded at the first entry. */
export function createJsonWriter(output: LineOutput): LogWriter {
  let problem = false;
  let pino: PinoLogger<string> | undefined;
  const load = (): PinoLogger<string> => {
    const make = createRequire(import.meta.url)('pino') as typeof Pino;
    const destination: DestinationStream = { write: (line) => output(line, problem) };
    return make(
      {
        base: null,
        level: 'PERF',
        // pino wants ascending severity; the names are what readers see.
        customLevels: Object.fromEntries(LOG_LEVEL_NAMES.slice(1).map((name, index) => [name, 70 - 10 * index])),
        useOnlyCustomLevels: true,
        formatters: { level: (label) => ({ level: label }) },
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
      },
      destination,
    );
  };
  return {
    write({ level, prefix, message, data, exception }) {
      problem = isProblem(level);
      pino ??= load();
      const { time: _time, level: _level, msg: _msg, ...rest } = safeData(data ?? {}) as Record<string, unknown>;
      const fields = exception === undefined ? rest : { ...rest, exception: describeException(exception) };
      const write = (pino as unknown as Record<string, (fields: object, message: string) => void>)[
        LOG_LEVEL_NAMES[level] as string
      ];
      write?.call(pino, fields, hideLogins(prefix === undefined ? message : `${prefix}: ${message}`));
    },
  };
}

/**
 * Every control character as an escape, so that text from a page can neither start a line of its own nor
 * drive a terminal: C0, DEL, C1, the line and paragraph separators, and the marks that reorder text.
 */
export function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) => {
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function dataText(data: unknown): string {
  const text = escapeControls(JSON.stringify(safeData(data)) ?? '');
  return text.length > MAX_DATA_CHARS ? `${text.slice(0, MAX_DATA_CHARS)}…` : text;
}

/** A copy that JSON.stringify accepts: no cycles, errors as objects, long strings cut, bounded depth. */
export function safeData(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    const text = hideLogins(value);
    return text.length > MAX_STRING_CHARS ? `${text.slice(0, MAX_STRING_CHARS)}…` : text;
  }
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Error) return describeException(value);
  if (depth >= 4) return Array.isArray(value) ? '[array]' : '[object]';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => safeData(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const entries = Object.entries(value).slice(0, 100);
  return Object.fromEntries(entries.map(([name, item]) => [name, safeData(item, depth + 1)]));
}

function describeException(exception: unknown, causes = 0): unknown {
  if (!(exception instanceof Error)) return { message: hideLogins(String(exception)) };
  const { name, message, stack = '', cause } = exception;
  const code = (exception as { code?: unknown }).code;
  return {
    name,
    message: hideLogins(message),
    ...(typeof code === 'string' ? { code } : {}),
    stack: hideLogins(stack),
    ...(cause === undefined || causes >= MAX_CAUSES ? {} : { cause: describeException(cause, causes + 1) }),
  };
}

function exceptionText(exception: unknown, paint: Paint): string {
  let text = '';
  let current = exception;
  for (let depth = 0; current !== undefined && depth <= MAX_CAUSES; depth++) {
    const lead = depth === 0 ? '' : 'caused by ';
    if (!(current instanceof Error)) return `${text}  ${lead}${escapeControls(hideLogins(String(current)))}\n`;
    text += `  ${lead}${escapeControls(hideLogins(`${current.name}: ${current.message}`))}\n`;
    for (const line of stackFrames(current)) text += `  ${paint(escapeControls(line), GREY)}\n`;
    current = current.cause;
  }
  return text;
}

/** The lines of a stack below the message, which may itself have many lines. */
function stackFrames(error: Error): string[] {
  return (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
}

type Paint = (text: string, colour: number) => string;
const plain: Paint = (text) => text;
const painted: Paint = (text, colour) => `\u001b[${colour}m${text}\u001b[39m`;
