// Hostile hosts: what is wrong is the conversation, not the page.
// Each takes the socket after the request's head was read. `robots` answers /robots.txt of that host instead of a 404.
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { answer, drip, flood, forever, head, reset, times } from './wire.mjs';

const PAGE = '<title>hostile</title><p>A page of a hostile host.</p>';
const MB = 1_000_000;

const made = new Map();
/** Made once, when it is first asked for. */
function once(name, make) {
  if (!made.has(name)) made.set(name, make());
  return made.get(name);
}

const zeros = (megabytes) => Buffer.alloc(megabytes * MB, ' ');
const gzipBomb = () => once('gzip', () => gzipSync(zeros(100)));
const brotliBomb = () =>
  once('br', () => brotliCompressSync(zeros(100), { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }));
const deflateBomb = () => once('deflate', () => deflateSync(zeros(100)));
const nestedBomb = () => once('nested', () => gzipSync(gzipBomb()));
const encoded = (socket, encoding, body) => answer(socket, body, { headers: [`content-encoding: ${encoding}`] });
const raw = (socket, text) => socket.end(text);
const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const chunked = (socket) => head(socket, 'transfer-encoding: chunked');

function oneByteChunks(socket) {
  chunked(socket);
  const piece = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  flood(socket, [chunk(PAGE), ...Array.from({ length: 900 }, () => piece), '0\r\n\r\n']);
}

function* headerLines(count, make) {
  yield 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n';
  yield* times(count, make);
  yield `content-length: ${PAGE.length}\r\n\r\n${PAGE}`;
}

const cookies = (n) => `set-cookie: c${n % 400}=${n}; Path=/\r\n`;

/** Bombs take a second each to make: before the first request, so that good pages do not wait for it. */
export function prepare() {
  gzipBomb();
  brotliBomb();
  deflateBomb();
  nestedBomb();
}

export const HOSTS = {
  'one-byte-chunks': { answer: oneByteChunks },
  'one-byte-writes': {
    answer(socket) {
      socket.setNoDelay(true);
      head(socket, 'content-length: 20000');
      flood(
        socket,
        times(20_000, () => 'x'),
      );
    },
  },
  'drip-body': {
    isSlow: true,
    answer: (socket) => (
      head(socket),
      drip(
        socket,
        forever(() => 'x'),
        300,
      )
    ),
  },
  'drip-head': {
    isSlow: true,
    answer: (socket) =>
      drip(
        socket,
        forever((n) => (n === 0 ? 'HTTP/1.1 200 OK\r\n' : `x-${n}: y\r\n`)),
        300,
      ),
  },
  silent: { isSlow: true, answer: () => undefined },
  'header-flood': {
    answer: (socket) =>
      flood(
        socket,
        headerLines(20_000, (n) => `x-header-${n}: ${'y'.repeat(80)}\r\n`),
      ),
  },
  'header-huge': {
    answer: (socket) =>
      flood(
        socket,
        headerLines(1, () => `x-header: ${'y'.repeat(10 * MB)}\r\n`),
      ),
  },
  'header-many-small': {
    answer: (socket) =>
      flood(
        socket,
        headerLines(1_900, (n) => `x${n}:\r\n`),
      ),
  },
  'headers-endless': {
    answer: (socket) =>
      flood(
        socket,
        forever((n) => (n === 0 ? 'HTTP/1.1 200 OK\r\n' : `x-${n}: y\r\n`)),
      ),
  },
  'header-binary': {
    answer: (socket) => raw(socket, Buffer.from(`HTTP/1.1 200 OK\r\nx\xff\xfe: \x00\x01\xff\r\n\r\n${PAGE}`, 'latin1')),
  },
  'cookie-flood': { answer: (socket) => flood(socket, headerLines(600, cookies)) },
  'cookie-flood-large': { answer: (socket) => flood(socket, headerLines(20_000, cookies)) },
  'cookie-huge': {
    answer: (socket) =>
      flood(
        socket,
        headerLines(3, (n) => `set-cookie: c${n}=${'v;'.repeat(2_000)}\r\n`),
      ),
  },
  'gzip-bomb': { answer: (socket) => encoded(socket, 'gzip', gzipBomb()) },
  'brotli-bomb': { answer: (socket) => encoded(socket, 'br', brotliBomb()) },
  'deflate-bomb': { answer: (socket) => encoded(socket, 'deflate', deflateBomb()) },
  'nested-bomb': { answer: (socket) => encoded(socket, 'gzip, gzip', nestedBomb()) },
  'many-encodings': {
    answer: (socket) => encoded(socket, Array.from({ length: 500 }, () => 'gzip').join(', '), gzipSync(PAGE)),
  },
  'encoding-unknown': { answer: (socket) => encoded(socket, 'x-nothing', PAGE) },
  'gzip-cut': { answer: (socket) => encoded(socket, 'gzip', gzipSync(PAGE.repeat(1_000)).subarray(0, 60)) },
  'gzip-garbage': { answer: (socket) => encoded(socket, 'gzip', Buffer.alloc(10_000, 'not gzip')) },
  'gzip-then-garbage': { answer: (socket) => encoded(socket, 'gzip', Buffer.concat([gzipSync(PAGE), zeros(2)])) },
  'gzip-many-members': {
    answer: (socket) =>
      encoded(socket, 'gzip', Buffer.concat(Array.from({ length: 50_000 }, () => once('empty', () => gzipSync(''))))),
  },
  'reset-at-once': { answer: (socket) => reset(socket) },
  'reset-in-head': { answer: (socket) => reset(socket, 'HTTP/1.1 200 OK\r\ncontent-ty') },
  'reset-in-body': { answer: (socket) => reset(socket, `HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${PAGE}`) },
  'closed-at-once': { answer: (socket) => socket.end() },
  'body-endless': {
    answer: (socket) => (
      head(socket),
      flood(
        socket,
        forever(() => once('spaces', () => zeros(1))),
      )
    ),
  },
  'chunks-endless': {
    answer: (socket) => (
      chunked(socket),
      flood(
        socket,
        forever(() => once('chunk', () => chunk('z'.repeat(60_000)))),
      )
    ),
  },
  'chunk-extension-endless': {
    answer: (socket) => (
      chunked(socket),
      flood(
        socket,
        forever((n) => (n === 0 ? '5;a=' : 'b'.repeat(60_000))),
      )
    ),
  },
  'chunk-extension-drip': {
    isSlow: true,
    answer: (socket) => (
      chunked(socket),
      drip(
        socket,
        forever((n) => (n === 0 ? '5;a=' : 'b')),
        200,
      )
    ),
  },
  'chunk-size-endless': {
    answer: (socket) => (
      chunked(socket),
      flood(
        socket,
        forever(() => '0'.repeat(60_000)),
      )
    ),
  },
  'chunk-size-wrong': { answer: (socket) => (chunked(socket), socket.end('zz\r\nhello\r\n0\r\n\r\n')) },
  'trailers-endless': {
    answer: (socket) => (
      chunked(socket),
      flood(
        socket,
        forever((n) => (n === 0 ? `${chunk(PAGE)}0\r\n` : `x-${n}: y\r\n`)),
      )
    ),
  },
  'length-too-long': { answer: (socket) => (head(socket, 'content-length: 999999'), socket.end(PAGE)) },
  'length-too-short': { answer: (socket) => (head(socket, 'content-length: 5'), socket.end(PAGE)) },
  'length-huge': {
    isSlow: true,
    answer: (socket) => (head(socket, 'content-length: 99999999999999'), socket.write(PAGE)),
  },
  'length-wrong': { answer: (socket) => (head(socket, 'content-length: -7'), socket.end(PAGE)) },
  'length-twice': {
    answer: (socket) => (head(socket, 'content-length: 10', `content-length: ${PAGE.length}`), socket.end(PAGE)),
  },
  'length-and-chunks': {
    answer: (socket) => (
      head(socket, 'content-length: 3', 'transfer-encoding: chunked'),
      socket.end(`${chunk(PAGE)}0\r\n\r\n`)
    ),
  },
  'status-garbage': { answer: (socket) => raw(socket, `HTTP/9.9 banana split\r\n\r\n${PAGE}`) },
  'status-endless': {
    answer: (socket) =>
      flood(
        socket,
        forever((n) => (n === 0 ? 'HTTP/1.1 200 ' : 'O'.repeat(60_000))),
      ),
  },
  'status-999': { answer: (socket) => answer(socket, PAGE, { status: '999 No' }) },
  'status-1xx-endless': {
    answer: (socket) =>
      flood(
        socket,
        forever(() => 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
      ),
  },
  'status-101': {
    answer: (socket) => raw(socket, 'HTTP/1.1 101 Switching Protocols\r\nupgrade: nothing\r\n\r\n\x00\x01'),
  },
  'status-204-with-body': { answer: (socket) => answer(socket, PAGE, { status: '204 No Content' }) },
  'not-http': { answer: (socket) => raw(socket, Buffer.alloc(100_000, 0x80)) },
  'redirect-loop': {
    answer: (socket, path) => answer(socket, '', { status: '302 Found', headers: [`location: ${path}`] }),
  },
  'redirect-endless': {
    answer: (socket, path) =>
      answer(socket, '', {
        status: '302 Found',
        headers: [`location: /redirect-endless/${Number(path.split('/')[2] ?? 0) + 1}`],
      }),
  },
  'redirect-huge': {
    answer: (socket) => answer(socket, '', { status: '302 Found', headers: [`location: /${'a'.repeat(12_000)}`] }),
  },
  'redirect-utm': {
    answer: (socket, path) =>
      path.includes('?')
        ? answer(socket, PAGE)
        : answer(socket, '', {
            status: '302 Found',
            headers: [
              `location: /redirect-utm?${Array.from({ length: 900 }, (_, n) => `utm_${n}=1`).join('&')}&%C3%A9`,
            ],
          }),
  },
  'redirect-script': {
    answer: (socket) => answer(socket, '', { status: '302 Found', headers: ['location: javascript:alert(1)'] }),
  },
  'redirect-binary': {
    answer: (socket) =>
      raw(
        socket,
        Buffer.from('HTTP/1.1 302 Found\r\nlocation: /\xed\xa0\x80\xff\r\ncontent-length: 0\r\n\r\n', 'latin1'),
      ),
  },
  'type-flood': { answer: (socket) => answer(socket, PAGE, { type: `text/html${'; charset= '.repeat(1_000)}` }) },
  'refresh-header': {
    answer: (socket) => answer(socket, PAGE, { headers: [`refresh: 0${' '.repeat(12_000)}; url=x`] }),
  },
  'retry-after-odd': {
    answer: (socket) => answer(socket, PAGE, { status: '503 No', headers: [`retry-after: ${'9'.repeat(5_000)}`] }),
  },
  'robots-endless': {
    answer: (socket) => answer(socket, PAGE),
    robots: (socket) => (
      head(socket),
      flood(
        socket,
        forever((n) => `User-agent: *\nDisallow: /${'*a'.repeat(200)}${n}$\n`),
      )
    ),
  },
  'robots-silent': { isSlow: true, answer: (socket) => answer(socket, PAGE), robots: () => undefined },
  'robots-loop': {
    answer: (socket) => answer(socket, PAGE),
    robots: (socket) => answer(socket, '', { status: '302 Found', headers: ['location: /robots.txt'] }),
  },
  'robots-sitemaps': {
    answer: (socket) => answer(socket, PAGE),
    robots: (socket) => answer(socket, 'Sitemap: /s.xml\n'.repeat(30_000), { type: 'text/plain' }),
  },
};
