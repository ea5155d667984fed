// Special paths that misbehave on the wire; the behaviour itself is in simweb-hostile.ts.
import { closeMidBody, sendBadGzip, sendBytes, sendEndless, sendGarbage, sendGzipBomb } from '../hostile.js';
import { sendLyingLength, sendWrongCharset } from '../hostile.js';
import { HTML_TYPE, smallPage, wholeNumber } from '../reply.js';
import type { SpecialAnswers } from '../reply.js';

export const hostileAnswers = {
  bytes({ exchange, args }) {
    const type = exchange.query.get('type') ?? '';
    sendBytes(exchange, wholeNumber(args[0], 0), /^[\w./+-]+$/.test(type) ? type : undefined);
  },
  endless: ({ exchange }) => sendEndless(exchange),
  drip({ exchange, args }) {
    const bytes = wholeNumber(args[0], 1000, 1, 10_000_000);
    const body = Buffer.from(smallPage('Slow', ['/']).padEnd(bytes)).subarray(0, bytes);
    exchange.drip(200, [...HTML_TYPE, 'content-length', String(bytes)], body, wholeNumber(args[1], 1000, 1));
  },
  'lying-length'({ exchange }) {
    const { query } = exchange;
    sendLyingLength(exchange, wholeNumber(query.get('claim'), 10_000), wholeNumber(query.get('send'), 5000, 0, 60_000));
  },
  'close-mid-body': ({ exchange }) => closeMidBody(exchange),
  'gzip-bomb': ({ exchange }) => sendGzipBomb(exchange, wholeNumber(exchange.query.get('mb'), 1000, 1, 100_000)),
  'bad-gzip': ({ exchange }) => sendBadGzip(exchange, exchange.query.get('how') ?? 'garbage'),
  'wrong-charset': ({ exchange }) => sendWrongCharset(exchange),
  garbage: ({ exchange }) => sendGarbage(exchange),
  reset: ({ exchange }) => exchange.reset(),
  close: ({ exchange }) => void exchange.req.socket.end(),
  hang: () => {},
} satisfies SpecialAnswers;
