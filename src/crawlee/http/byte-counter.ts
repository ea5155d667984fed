// Crawlee's counter of a download's bytes: a stream that lets everything through and says how much that was.
import { Transform } from 'node:stream';

/**
 * A stream that reports how many bytes went through it, at most once per interval.
 *
 * @example
 * await pipeline(stream, ByteCounterStream({ logTransferredBytes: (bytes) => log.info(`${bytes} bytes`) }), file);
 */
export function ByteCounterStream({
  logTransferredBytes,
  loggingInterval = 5_000,
}: {
  logTransferredBytes: (transferredBytes: number) => void;
  loggingInterval?: number;
}): Transform {
  let transferred = 0;
  let reportedAtMs = Date.now();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      transferred += chunk.length;
      if (Date.now() - reportedAtMs >= loggingInterval) {
        reportedAtMs = Date.now();
        logTransferredBytes(transferred);
      }
      done(null, chunk);
    },
  });
}
