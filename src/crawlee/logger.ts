// Crawlee's loggers: classes that turn an entry of a `Log` into a line, to be subclassed and given as `logger`.
import { EventEmitter } from 'node:events';
import type { LogEntry, LogWriter } from '../observe/log-lines.js';
import { createJsonWriter, createTextWriter, isProblem, processOutput, type LineOutput } from '../observe/log-lines.js';
import type { LogLevel } from '../observe/log.js';

/** What stands around a message. */
export interface LogLineOptions {
  /** Written before the message. */
  readonly prefix?: string | null;
  /** Written after the message. */
  readonly suffix?: string | null;
}

/**
 * The base of loggers. Override `_log`; what it returns is emitted as `line`.
 *
 * @example
 * class Collecting extends Logger {
 *   readonly lines: string[] = [];
 *   override _log(_level: LogLevel, message: string) { this.lines.push(message); return message; }
 * }
 * const myLog = new Log({ logger: new Collecting() });
 */
export class Logger extends EventEmitter implements LogWriter {
  #options: Record<string, unknown>;

  constructor(options: Record<string, unknown> = {}) {
    super();
    this.#options = { ...options };
  }

  /** Changes some options; the others stay. */
  setOptions(options: Record<string, unknown>): void {
    this.#options = { ...this.#options, ...options };
  }

  /** A copy of the options. */
  getOptions(): Record<string, unknown> {
    return { ...this.#options };
  }

  /** Writes a line to the stream that fits its level. */
  _outputWithConsole(level: LogLevel, line: string): void {
    processOutput(line.endsWith('\n') ? line : `${line}\n`, isProblem(level));
  }

  /** Writes an entry and returns its line. */
  _log(level: LogLevel, message: string, data?: unknown, exception?: unknown, options?: LogLineOptions): string | void {
    void [level, message, data, exception, options];
    throw new Error('a Logger needs its own _log(level, message, data, exception, options)');
  }

  /** Writes an entry by `_log` and emits its line. */
  log(level: LogLevel, message: string, data?: unknown, exception?: unknown, options?: LogLineOptions): void {
    const line = this._log(level, message, data, exception, options);
    this.emit('line', line);
  }

  /** What a `Log` calls. */
  write({ level, message, data, exception, prefix }: LogEntry): void {
    this.log(level, message, data, exception, { prefix });
  }
}

/** Writes by one of our own writers and returns what it wrote. */
function lineOf(make: (output: LineOutput) => LogWriter, entry: LogEntry): string {
  let line = '';
  make((text) => (line += text)).write(entry);
  return line;
}

type LogArguments = Parameters<Logger['log']>;

function entryOf(...[level, message, data, exception, options]: LogArguments): LogEntry {
  return { level, message, data: data as LogEntry['data'], exception, prefix: options?.prefix ?? undefined };
}

/**
 * One JSON object per line.
 *
 * @example
 * log.setOptions({ logger: new LoggerJson() });
 */
export class LoggerJson extends Logger {
  override _log(...given: LogArguments): string {
    const line = lineOf(createJsonWriter, entryOf(...given));
    this._outputWithConsole(given[0], line);
    return line.trimEnd();
  }
}

/**
 * Lines for people.
 *
 * @example
 * log.setOptions({ logger: new LoggerText() });
 */
export class LoggerText extends Logger {
  override _log(...given: LogArguments): string {
    const line = lineOf((output) => createTextWriter(output, () => false), entryOf(...given));
    this._outputWithConsole(given[0], line);
    return line.trimEnd();
  }
}
