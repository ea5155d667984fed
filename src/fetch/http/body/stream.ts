// Streams a body as it arrives (FileDownload): wire bytes → decoders → the reader, with back-pressure to the socket
// and the same limits as a body that is read whole. Fails with our errors, never with zlib's.
import { Duplex, pipeline, Readable, Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { CrawlError } from '../../../errors.js';
import type { Coding } from './body.js';
import { hasZlibHeader } from './body.js';
import { decodeError, tooLargeError } from '../errors.js';

/** Where the wire bytes come from. Both calls may come late or twice. */
export interface BodySource {
  /** The reader wants more after a pause. */
  resumeBody(): void;
  /** The reader has gone. */
  abandon(): void;
}

export interface OpenedBody {
  readonly stream: Readable;
  /** Takes a chunk, null at the end; false asks for a pause. */
  readonly feed: (chunk: Buffer | null) => boolean;
  readonly fail: (error: CrawlError) => void;
}

export function openBodyStream(
  source: BodySource,
  codings: readonly Coding[],
  maxBytes: number,
  host: string,
): OpenedBody {
  const wire = new Readable({
    read: () => source.resumeBody(),
    destroy(error, done) {
      source.abandon();
      done(error);
    },
  });
  const stages: Readable[] = [wire];
  const last = () => stages[stages.length - 1]!;
  const destroyAll = () => {
    for (const stage of stages) stage.destroy();
  };
  const join = (stage: Duplex, coding: string) => {
    stages.push(last().pipe(stage));
    stage.on('error', (error) => {
      last().destroy(decodeError(host, coding, maxBytes, error));
      destroyAll();
    });
  };
  for (const coding of [...codings].reverse()) join(decoderFor(coding), coding);
  if (codings.length > 0) join(cappedPassage(maxBytes, host), 'body');
  const stream = last();
  // A reader that never listens must not turn a broken download into a crash.
  stream.on('error', () => undefined);
  // The reader may leave before the end: what feeds it has to stop as well.
  stream.on('close', destroyAll);
  return {
    stream,
    fail(error) {
      stream.destroy(error);
      destroyAll();
    },
    feed: (chunk) => !wire.destroyed && wire.push(chunk),
  };
}

/** Lets through what it is given, and breaks off with an error beyond so many bytes. */
export function cappedPassage(maxBytes: number, host: string): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      if (passed > maxBytes) done(tooLargeError(host, maxBytes, 'decoded'));
      else done(null, chunk);
    },
  });
}

function decoderFor(coding: Coding): Duplex {
  switch (coding) {
    case 'gzip':
      return zlib.createGunzip();
    case 'deflate':
      return Duplex.from(inflateEither);
    case 'br':
      return zlib.createBrotliDecompress();
    case 'zstd':
      return (zlib as unknown as { createZstdDecompress(): Duplex }).createZstdDecompress();
    default:
      return coding satisfies never;
  }
}

/** Chooses between the zlib format and bare deflate when the first two bytes are in. */
async function* inflateEither(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  if (head.length === 0) return;
  const inflate = hasZlibHeader(head) ? zlib.createInflate() : zlib.createInflateRaw();
  async function* whole(): AsyncGenerator<Buffer> {
    yield head;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  pipeline(whole, inflate, () => undefined);
  yield* inflate as AsyncIterable<Buffer>;
}
