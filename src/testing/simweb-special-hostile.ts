// Special paths that misbehave on the wire; the behaviour itself is in simweb-hostile.ts.
import { closeMidBody, sendBadGzip, sendBytes, sendEndless, sendGarbage, sendGzipBomb } from './simweb-hostile.js';
import { sendLyingLength, sendWrongCharset } from './simweb-hostile.js';
import { HTML_TYPE, smallPage, wholeNumber } from './simweb-reply.js';
import type { SpecialPaths } from './simweb-reply.js';

export const hostilePaths: SpecialPaths = {
  bytes: {
    usage: '/_/bytes/N[?type=TYPE]',
    does: 'N bytes with an honest Content-Length, streamed',
    answer({ exchange, args }) {
      const type = exchange.query.get('type') ?? '';
      sendBytes(exchange, wholeNumber(args[0], 0), /^[\w./+-]+$/.test(type) ? type : undefined);
    },
  },
  endless: {
    usage: '/_/endless',
    does: 'a chunked page that never ends',
    answer: ({ exchange }) => sendEndless(exchange),
  },
  drip: {
    usage: '/_/drip/BYTES/BYTES_PER_SEC',
    does: 'a body that comes slowly, some bytes every 50 ms',
    answer({ exchange, args }) {
      const bytes = wholeNumber(args[0], 1000, 1, 10_000_000);
      const body = Buffer.from(smallPage('Slow', ['/']).padEnd(bytes)).subarray(0, bytes);
      exchange.drip(200, [...HTML_TYPE, 'content-length', String(bytes)], body, wholeNumber(args[1], 1000, 1));
    },
  },
  'lying-length': {
    usage: '/_/lying-length[?claim=N&send=M]',
    does: 'Content-Length N (10000) but M (5000, at most 60000) bytes, then the connection closes',
    answer({ exchange }) {
      const { query } = exchange;
      sendLyingLength(
        exchange,
        wholeNumber(query.get('claim'), 10_000),
        wholeNumber(query.get('send'), 5000, 0, 60_000),
      );
    },
  },
  'close-mid-body': {
    usage: '/_/close-mid-body',
    does: 'half a chunked page, then the connection is cut',
    answer: ({ exchange }) => closeMidBody(exchange),
  },
  'gzip-bomb': {
    usage: '/_/gzip-bomb[?mb=N]',
    does: 'one gzip body of about N KB that unpacks to N MiB (1000) of spaces',
    answer: ({ exchange }) => sendGzipBomb(exchange, wholeNumber(exchange.query.get('mb'), 1000, 1, 100_000)),
  },
  'bad-gzip': {
    usage: '/_/bad-gzip[?how=garbage|truncated|checksum]',
    does: 'a body labelled gzip that does not unpack',
    answer: ({ exchange }) => sendBadGzip(exchange, exchange.query.get('how') ?? 'garbage'),
  },
  'wrong-charset': {
    usage: '/_/wrong-charset',
    does: 'windows-1251 labelled UTF-8',
    answer: ({ exchange }) => sendWrongCharset(exchange),
  },
  garbage: {
    usage: '/_/garbage',
    does: 'bytes that are not HTTP',
    answer: ({ exchange }) => sendGarbage(exchange),
  },
  reset: {
    usage: '/_/reset',
    does: 'resets the connection instead of answering',
    answer: ({ exchange }) => exchange.reset(),
  },
  close: {
    usage: '/_/close',
    does: 'closes the connection instead of answering',
    answer: ({ exchange }) => void exchange.req.socket.end(),
  },
  hang: {
    usage: '/_/hang',
    does: 'never answers and keeps the connection',
    answer: () => {},
  },
};
