// The log that users and crawlers write to: Crawlee's `Log`, leveled and prefixed.
// Promise: logging never throws, costs nothing below the level, and reads settings only at the first use.
import { Configuration, LOG_LEVEL_NAMES } from '../configuration.js';
import { createJsonWriter, createTextWriter, processOutput } from './log-lines.js';
import type { LogEntry, LogWriter } from './log-lines.js';

export type { LogEntry, LogWriter } from './log-lines.js';

/**
 * How much is logged: everything up to and including the level.
 *
 * @example
 * log.setLevel(LogLevel.DEBUG);
 */
export enum LogLevel {
  OFF = 0,
  ERROR = 1,
  SOFT_FAIL = 2,
  WARNING = 3,
  INFO = 4,
  DEBUG = 5,
  PERF = 6,
}

/** Facts that are written beside the message. */
export type LogData = Record<string, unknown> | null;

/** What a `Log` writes, and where. */
export interface LoggerOptions {
  /** Own level; without it a child follows its parent. */
  level?: LogLevel;
  /** Written before each message; a child's follows its parent's. */
  prefix?: string | null;
  /** Written after each message. */
  suffix?: string | null;
  /** Added to the data of each message. */
  data?: Record<string, unknown>;
  /** Where entries go instead of the process's streams. */
  logger?: LogWriter;
}

// Messages remembered by `warningOnce` and `deprecated`; beyond it they are written every time.
const MAX_REMEMBERED = 1_000;

/**
 * A leveled log.
 *
 * @example
 * const myLog = log.child({ prefix: 'Shop' });
 * myLog.info('found items', { count: 12 }); // INFO  Shop: found items {"count":12}
 */
export class Log {
  /** The levels by name. */
  readonly LEVELS = LogLevel;
  readonly #parent: Log | undefined;
  readonly #saidOnce: Set<string>;
  #options: LoggerOptions;

  constructor(options: LoggerOptions = {}, parent?: Log) {
    this.#options = { ...options };
    this.#parent = parent;
    this.#saidOnce = parent === undefined ? new Set() : parent.#saidOnce;
  }

  /** The level: less important lines are left out. */
  getLevel(): LogLevel {
    return this.#options.level ?? this.#parent?.getLevel() ?? configuredLevel();
  }

  /** Leaves out what is less important than this. */
  setLevel(level: LogLevel): void {
    this.#options.level = level;
  }

  /** The options of this log. */
  getOptions(): LoggerOptions & { level: LogLevel } {
    return { ...this.#options, level: this.getLevel(), prefix: this.#prefix() ?? null };
  }

  /** Changes options of this log. */
  setOptions(options: LoggerOptions): void {
    this.#options = { ...this.#options, ...options };
  }

  /** A log that adds its prefix, data or level to this one's. */
  child(options: LoggerOptions): Log {
    return new Log(options, this);
  }

  /** Something failed. */
  error(message: string, data?: LogData): void {
    this.internal(LogLevel.ERROR, message, data);
  }

  /** An error with the thrown value, its stack and its causes. */
  exception(exception: unknown, message: string, data?: LogData): void {
    this.internal(LogLevel.ERROR, message, data, exception ?? 'no exception given');
  }

  /** Something failed that does not matter much. */
  softFail(message: string, data?: LogData): void {
    this.internal(LogLevel.SOFT_FAIL, message, data);
  }

  /** Something to look at. */
  warning(message: string, data?: LogData): void {
    this.internal(LogLevel.WARNING, message, data);
  }

  /** The same as `warning`. */
  warn(message: string, data?: LogData): void {
    this.internal(LogLevel.WARNING, message, data);
  }

  /** What goes on. */
  info(message: string, data?: LogData): void {
    this.internal(LogLevel.INFO, message, data);
  }

  /** Details, for looking into a problem. */
  debug(message: string, data?: LogData): void {
    this.internal(LogLevel.DEBUG, message, data);
  }

  /** How long things take. */
  perf(message: string, data?: LogData): void {
    this.internal(LogLevel.PERF, message, data);
  }

  /** A warning that is written the first time only. */
  warningOnce(message: string): void {
    if (this.#saidOnce.has(message)) return;
    if (this.#saidOnce.size < MAX_REMEMBERED) this.#saidOnce.add(message);
    this.warning(message);
  }

  /** Warns once about something that will go away. */
  deprecated(message: string): void {
    this.warningOnce(message);
  }

  /** Writes an entry of any level. */
  internal(level: LogLevel, message: string, data?: LogData, exception?: unknown): void {
    if (level > this.getLevel() || level <= LogLevel.OFF) return;
    const suffix = this.#options.suffix;
    const entry: LogEntry = {
      level,
      prefix: this.#prefix(),
      message: `${String(message)}${suffix ? ` ${suffix}` : ''}`,
      data: this.#data(data),
      exception,
    };
    try {
      (this.#writer() ?? configuredWriter()).write(entry);
    } catch {
      // If the log cannot be written there is nowhere to report it; the crawl continues.
    }
  }

  #prefix(): string | undefined {
    const above = this.#parent === undefined ? undefined : this.#parent.#prefix();
    const parts = [above, this.#options.prefix].filter(Boolean);
    return parts.length === 0 ? undefined : parts.join(':');
  }

  #data(data: LogData | undefined): Record<string, unknown> | undefined {
    const inherited = this.#inheritedData();
    if (inherited === undefined) return data ?? undefined;
    return { ...inherited, ...data };
  }

  #inheritedData(): Record<string, unknown> | undefined {
    const above = this.#parent === undefined ? undefined : this.#parent.#inheritedData();
    return above === undefined ? this.#options.data : { ...above, ...this.#options.data };
  }

  #writer(): LogWriter | undefined {
    return this.#options.logger ?? (this.#parent === undefined ? undefined : this.#parent.#writer());
  }
}

/**
 * The process's log. Its level comes from `logLevel` of the global Configuration until `setLevel` is called.
 *
 * @example
 * log.info('found items', { count: 12 });
 */
export const log = new Log();

let levelRead: LogLevel | undefined;
let writer: LogWriter | undefined;

function configuredLevel(): LogLevel {
  if (levelRead === undefined) {
    const level = setting('logLevel') ?? LogLevel.INFO;
    levelRead = typeof level === 'number' ? level : LOG_LEVEL_NAMES.indexOf(level);
  }
  return levelRead;
}

function configuredWriter(): LogWriter {
  writer ??=
    setting('logFormat') === 'JSON'
      ? createJsonWriter(processOutput)
      : createTextWriter(processOutput, terminalColours);
  return writer;
}

/** A setting, or undefined if settings are invalid: starting the crawl reports that. */
function setting<Key extends 'logLevel' | 'logFormat'>(key: Key) {
  try {
    return Configuration.getGlobalConfig().get(key);
  } catch {
    return undefined;
  }
}

/** Colours only on a terminal, and never if NO_COLOR is set (no-color.org). */
function terminalColours(isProblem: boolean): boolean {
  if (process.env.NO_COLOR) return false;
  return (isProblem ? process.stderr : process.stdout).isTTY === true;
}
