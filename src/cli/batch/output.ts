// Where the results of a batch go: standard output, a file, a file a page, or the end of an earlier file.
// Promise: a reader that is slow slows the batch; a reader that leaves ends it; an interrupted file has only whole lines.
import { createWriteStream } from 'node:fs';
import { mkdir, open, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import type { CrawlResult } from '../../index.js';
import { forgetLogin, withoutLogin } from '../../request/login.js';
import {
  encoderOf,
  extensionOfFormat,
  type FormatOf,
  isPageFormat,
  pageAmongOthers,
  pageFileText,
  type PageFormatName,
} from '../../store/formats.js';
import { fileNamePart } from '../../store/names.js';
import { asStorageError } from '../../store/storage-errors.js';
import { itemOf, partsOf } from './items.js';
import { UsageError } from '../exit-codes.js';
import { forStandardOutput } from '../terminal.js';

const ELSEWHERE = 'choose another place with --out (or --resume)';

export type BatchFormat = FormatOf<'batch'>;

export interface BatchOutput {
  write(result: CrawlResult): Promise<void>;
  /** Nobody reads any more. */
  readonly isLeft: boolean;
  close(): Promise<void>;
}

export interface OutputOptions {
  readonly format: BatchFormat;
  readonly fields: readonly string[];
  readonly out?: string | undefined;
  readonly append?: string | undefined;
  readonly rawCsv?: boolean | undefined;
}

export async function openOutput(options: OutputOptions): Promise<BatchOutput> {
  const { format, out, append } = options;
  // Only JSON lines are appended to: they have no head and no end.
  if (append !== undefined) return streamOutput(fileStream(append, 'a'), options);
  if (out === undefined) return streamOutput(process.stdout, options);
  const isFolder = /[/\\]$/.test(out) || (await stat(out).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) {
    await mkdir(path.dirname(out), { recursive: true }).catch((error: unknown) => {
      throw asStorageError(error, out, ELSEWHERE);
    });
    return streamOutput(fileStream(out, 'w'), options);
  }
  if (!isPageFormat(format)) {
    throw new UsageError(`--format ${format} is one file: give --out a file name, not a folder`);
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
  { format, fields, rawCsv }: OutputOptions,
): BatchOutput {
  const encoder = isPageFormat(format) ? undefined : encoderOf(format, fields, rawCsv);
  let isLeft = false;
  const isStdout = stream === process.stdout;
  const onGone = () => (isLeft = true);
  stream.on('error', onGone).on('close', onGone);

  async function put(piece: string | Uint8Array): Promise<void> {
    if (piece.length === 0 || isLeft) return assertWell();
    const isShown = isStdout && typeof piece === 'string';
    if (!stream.write(isShown ? forStandardOutput(piece) : piece)) await whenReady(stream);
    assertWell();
  }

  function assertWell(): void {
    if (stream.failure !== undefined) throw stream.failure;
  }

  return {
    async write(result) {
      const forget = (piece: string | Uint8Array) =>
        typeof piece === 'string' ? forgetLogin(piece, result.url) : piece;
      if (encoder !== undefined) await put(forget(encoder.add([itemOf(result, fields)])));
      // Page formats have no place for a failure.
      else if (result.success && isPageFormat(format)) await put(forget(pageAmongOthers(format, partsOf(result))));
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

/** Resolves when there is room again, or nobody to make room for. */
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

/** A file a page, named by its place in the list and its URL. */
function folderOutput(folder: string, format: PageFormatName): BatchOutput {
  return {
    isLeft: false,
    async write(result) {
      if (!result.success) return;
      const { url } = withoutLogin(result.url);
      const number = String(result.dispatch.index + 1).padStart(6, '0');
      const name = `${number}-${fileNamePart(url.replace(/^https?:\/\//, ''))}.${extensionOfFormat(format)}`;
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(path.join(folder, name), forgetLogin(pageFileText(format, partsOf(result)), result.url));
      } catch (error) {
        throw asStorageError(error, folder);
      }
    },
    close: () => Promise.resolve(),
  };
}

/**
 * The URLs that succeeded in the lines of an earlier run, with how often; a torn last line is cut off, so that
 * what is appended begins a line of its own.
 */
export async function readEarlier(file: string): Promise<Map<string, number>> {
  const done = new Map<string, number>();
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
      // Latin-1 has a character a byte, so lengths are positions.
      for (const line of lines) countLine(Buffer.from(line, 'latin1').toString('utf8'), done);
      whole = read - rest.length;
    }
    if (whole < read) await handle.truncate(whole);
    return done;
  } finally {
    await handle.close();
  }
}

function countLine(line: string, done: Map<string, number>): void {
  try {
    const { url, success } = JSON.parse(line) as { url?: unknown; success?: unknown };
    if (typeof url === 'string' && success === true) done.set(url, (done.get(url) ?? 0) + 1);
  } catch {
    // A line of something else says nothing about any URL.
  }
}
