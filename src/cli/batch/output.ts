// Where the results of a batch go: standard output, one file, one file per page, or appended to a file.
// Promise: a slow reader slows the batch, a reader that exits ends it; an interrupted file has only complete lines.
import { createWriteStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { workOn } from '../../base/loop-watch/visit-marks.js';
import { forgetLogin } from '../../request/login.js';
import {
  encoderOf,
  extensionOfFormat,
  type FormatOf,
  isPageFormat,
  pageAmongOthers,
  pageFileText,
  type PageFormatName,
} from '../../store/formats.js';
import { asStorageError } from '../../store/storage-errors.js';
import { openPageFolder } from '../pages/folder.js';
import { itemOf, partsOf } from './items.js';
import type { ResultView } from './result-view.js';
import { UsageError } from '../exit-codes.js';
import { forStandardOutput } from '../terminal.js';

const ELSEWHERE = 'choose another file with --out (or --resume)';

export type BatchFormat = FormatOf<'batch'>;

export interface BatchOutput {
  /**
   * False when the result cannot be written in this format: then its failure is, where the format has a place for it.
   *
   * @param lack why its page has nothing to read; page formats leave it out
   */
  write(result: ResultView, lack?: string): Promise<boolean>;
  /** The reader is gone. */
  readonly isLeft: boolean;
  close(): Promise<void>;
}

export interface OutputOptions {
  readonly format: BatchFormat;
  readonly fields: readonly string[];
  readonly out?: string | undefined;
  readonly append?: string | undefined;
  readonly rawCsv?: boolean | undefined;
  /** Called before something is written to the terminal. */
  readonly beforeShow?: (() => void) | undefined;
}

export async function openOutput(options: OutputOptions): Promise<BatchOutput> {
  const { format, out, append } = options;
  // Only JSON lines are appended to: they have no head and no end.
  if (append !== undefined) return streamOutput(fileStream(append, 'a'), options);
  if (out === undefined) return streamOutput(process.stdout, options);
  const isFolder =
    /[/\\]$/.test(out) ||
    (isPageFormat(format) && path.extname(out) === '') ||
    (await stat(out).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) {
    await mkdir(path.dirname(out), { recursive: true }).catch((error: unknown) => {
      throw asStorageError(error, out, ELSEWHERE);
    });
    return streamOutput(fileStream(out, 'w'), options);
  }
  if (!isPageFormat(format)) {
    throw new UsageError(`--format ${format} writes one file: give --out a file name, not a folder`);
  }
  return folderOutput(out, format);
}

function fileStream(file: string, flags: string): Writable & { failure?: unknown } {
  const stream = createWriteStream(file, { flags }) as Writable & { failure?: unknown };
  stream.on('error', (error) => (stream.failure = asStorageError(error, file, ELSEWHERE)));
  return stream;
}

function streamOutput(
  stream: Writable & { failure?: unknown },
  { format, fields, rawCsv, beforeShow }: OutputOptions,
): BatchOutput {
  const encoder = isPageFormat(format) ? undefined : encoderOf(format, fields, rawCsv);
  let isLeft = false;
  const isStdout = stream === process.stdout;
  const onGone = () => (isLeft = true);
  stream.on('error', onGone).on('close', onGone);

  async function put(piece: string | Uint8Array): Promise<void> {
    if (piece.length === 0 || isLeft) return assertWell();
    const isShown = isStdout && typeof piece === 'string';
    if (isStdout && process.stdout.isTTY) beforeShow?.();
    if (!stream.write(isShown ? forStandardOutput(piece) : piece)) await whenReady(stream);
    assertWell();
  }

  function assertWell(): void {
    if (stream.failure !== undefined) throw stream.failure;
  }

  return {
    async write(result, lack) {
      if (lack !== undefined && isPageFormat(format)) return true;
      const forget = (piece: string | Uint8Array) =>
        typeof piece === 'string' ? forgetLogin(piece, result.url) : piece;
      const text = written(result, () => {
        if (encoder !== undefined) return forget(encoder.add([itemOf(result, fields)]));
        // Page formats have no place for a failure.
        return result.success && isPageFormat(format) ? forget(pageAmongOthers(format, partsOf(result))) : '';
      });
      if (text !== undefined) await put(text);
      else if (encoder !== undefined) await put(forget(encoder.add([unwritableItem(result, fields)])));
      return text !== undefined;
    },
    get isLeft() {
      return isLeft;
    },
    async close() {
      if (encoder !== undefined) await put(encoder.end());
      if (!isStdout) await new Promise<void>((resolve) => stream.end(resolve));
      stream.off('error', onGone).off('close', onGone);
      assertWell();
    },
  };
}

/** What a result's page makes of it may be too deep, too long or circular: that is this result's failure alone. */
function written<T>(result: ResultView, make: () => T): T | undefined {
  try {
    return workOn(result.url, make);
  } catch {
    return undefined;
  }
}

function unwritableItem({ url, loadedUrl, statusCode }: ResultView, fields: readonly string[]) {
  const errorMessage = 'the result cannot be written in this format';
  const known: Record<string, unknown> = { url, loadedUrl, statusCode, success: false, errorCode: 'ITEM_INVALID' };
  return Object.fromEntries(fields.map((name) => [name, { ...known, errorMessage }[name] ?? null]));
}

/** Resolves when there is room again, or the reader is gone. */
function whenReady(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of READY_EVENTS) stream.off(event, done);
      resolve();
    };
    for (const event of READY_EVENTS) stream.on(event, done);
    if (stream.destroyed || !stream.writableNeedDrain) done();
  });
}

const READY_EVENTS = ['drain', 'close', 'error'] as const;

/** One file per page, named by its path, with an index. */
async function folderOutput(folder: string, format: PageFormatName): Promise<BatchOutput> {
  const pages = await openPageFolder(folder, extensionOfFormat(format));
  return {
    isLeft: false,
    async write(result, lack) {
      const { url, errorCode, errorMessage } = result;
      const why = result.success ? lack : `${errorCode}: ${errorMessage}`;
      if (why !== undefined) {
        await pages.leaveOut(url, why);
        return true;
      }
      const text = written(result, () => pageFileText(format, partsOf(result)));
      if (text === undefined) await pages.leaveOut(url, 'it cannot be written in this format');
      else await pages.write({ url, title: result.metadata?.title }, text);
      return text !== undefined;
    },
    close: async () => void (await pages.close()),
  };
}

/**
 * The URLs that succeeded in an earlier run, with their counts; an incomplete last line is cut off, so that
 * appending starts a new line.
 */
export async function readEarlier(file: string): Promise<Map<string, number>> {
  const done = new Map<string, number>();
  const seen = { results: 0, told: 0 };
  const handle = await open(file, 'a+').catch((error: unknown) => {
    throw asStorageError(error, file);
  });
  try {
    let whole = 0;
    let read = 0;
    let rest = '';
    for await (const chunk of handle.createReadStream({ start: 0, autoClose: false, encoding: 'latin1' })) {
      read += (chunk as string).length;
      const lines = (rest + (chunk as string)).split('\n');
      rest = lines.pop()!;
      // Latin-1 has one character per byte, so lengths are positions.
      for (const line of lines) countLine(Buffer.from(line, 'latin1').toString('utf8'), done, seen);
      whole = read - rest.length;
    }
    if (seen.results > 0 && seen.told === 0) {
      throw new UsageError(
        `${file} does not tell which URLs succeeded (it has no field "success"): give another file to --resume`,
      );
    }
    if (whole < read) await handle.truncate(whole);
    return done;
  } finally {
    await handle.close();
  }
}

function countLine(line: string, done: Map<string, number>, seen: { results: number; told: number }): void {
  try {
    const { url, success } = JSON.parse(line) as { url?: unknown; success?: unknown };
    if (typeof url !== 'string') return;
    seen.results++;
    if (typeof success === 'boolean') seen.told++;
    if (success === true) done.set(url, (done.get(url) ?? 0) + 1);
  } catch {
    // Not a result: ignored.
  }
}
