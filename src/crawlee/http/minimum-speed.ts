// Crawlee's guard against downloads that hardly move: a stream that fails when too little goes through it.
import { Transform } from 'node:stream';

/**
 * A stream that lets everything through and fails when less than `minSpeedKbps` (KiB per second) did so lately.
 *
 * @example
 * await pipeline(stream, MinimumSpeedStream({ minSpeedKbps: 10 }), file);
 */
export function MinimumSpeedStream({
  minSpeedKbps,
  historyLengthMs = 10_000,
  checkProgressInterval = 5_000,
}: {
  minSpeedKbps: number;
  /** What is looked back at. Default 10,000. */
  historyLengthMs?: number;
  /** Milliseconds between two looks. Default 5,000. */
  checkProgressInterval?: number;
}): Transform {
  let pieces: { atMs: number; bytes: number }[] = [];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    pieces = pieces.filter(({ atMs }) => nowMs - atMs < historyLengthMs);
    const kib = pieces.reduce((sum, { bytes }) => sum + bytes, 0) / 1024;
    const seconds = (nowMs - (pieces[0]?.atMs ?? nowMs - historyLengthMs)) / 1_000;
    if (seconds > 0 && kib / seconds < minSpeedKbps) stream.destroy(new Error('Stream speed too slow, aborting...'));
  }, checkProgressInterval);
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pieces.push({ atMs: performance.now(), bytes: chunk.length });
      done(null, chunk);
    },
    destroy(error, done) {
      clearInterval(timer);
      done(error);
    },
    flush(done) {
      clearInterval(timer);
      done();
    },
  });
  return stream;
}
