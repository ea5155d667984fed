// HTTP/2 from a server that writes its frames by hand: floods, cancelled streams, frames out of place. Each has a code,
// nothing reaches the process, and the next request to the host is answered.
import * as tls from 'node:tls';
import { afterEach, beforeAll, expect, it } from 'vitest';
import type { Certificates } from './http-certificates.js';
import { makeCertificates } from './http-certificates.js';
import { fetchText, fixtures } from './http-fixtures.js';

const { listen, engine, closeAll } = fixtures();
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(closeAll);

const [DATA, HEADERS, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION] = [0, 1, 3, 4, 5, 6, 7, 8, 9] as const;
const END_STREAM = 1;
const END_HEADERS = 4;
const NOTHING = Buffer.alloc(0);
const CANCEL = Buffer.from([0, 0, 0, 8]);

function frame(type: number, flags: number, stream: number, payload: Buffer = NOTHING): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that no table holds. */
function field(name: string, value: string): Buffer {
  const length = (of: number): number[] => {
    if (of < 127) return [of];
    const bytes = [127];
    let rest = of - 127;
    for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
    return [...bytes, rest];
  };
  const parts = [[0], length(name.length), [...Buffer.from(name)], length(value.length), [...Buffer.from(value)]];
  return Buffer.from(parts.flat());
}

const STATUS_200 = Buffer.from([0x88]);
const head = (id: number, ...fields: Buffer[]) =>
  frame(HEADERS, END_HEADERS, id, Buffer.concat([STATUS_200, ...fields]));
const many = (one: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => one));

/** What is written when a request arrives; `endless` again and again. */
interface Answer {
  readonly write: (id: number) => readonly Buffer[];
  readonly endless?: (id: number) => Buffer;
  readonly code: string | RegExp;
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  'GOAWAY three times': { write: () => [many(frame(GOAWAY, 0, 0, Buffer.alloc(8)), 3)], code: 'CONNECT_RESET' },
  'a stream that is reset 5,000 times': {
    write: (id) => [many(frame(RESET, 0, id, CANCEL), 5_000)],
    code: 'CONNECT_RESET',
  },
  'a body that is cancelled before its Content-Length': {
    write: (id) => [
      head(id, field('content-length', '10')),
      frame(DATA, 0, id, Buffer.from('part')),
      frame(RESET, 0, id, CANCEL),
    ],
    code: 'BODY_INCOMPLETE',
  },
  'a body without Content-Length that is cancelled': {
    write: (id) => [head(id), frame(DATA, 0, id, Buffer.from('part')), frame(RESET, 0, id, CANCEL)],
    code: 'BODY_INCOMPLETE',
  },
  'a body without Content-Length that is reset, as if nothing were wrong': {
    write: (id) => [head(id), frame(DATA, 0, id, Buffer.from('part')), frame(RESET, 0, id, Buffer.alloc(4))],
    code: 'BODY_INCOMPLETE',
  },
  'a body without Content-Length, and GOAWAY': {
    write: (id) => [head(id), frame(DATA, 0, id, Buffer.from('part')), frame(GOAWAY, 0, 0, Buffer.alloc(8))],
    code: 'BODY_INCOMPLETE',
  },
  'headers of a page, and its stream is cancelled': {
    write: (id) => [head(id), frame(RESET, 0, id, CANCEL)],
    code: 'BODY_INCOMPLETE',
  },
  'a status of 000': {
    write: (id) => [
      frame(HEADERS, END_HEADERS, id, field(':status', '000')),
      frame(DATA, END_STREAM, id, Buffer.from('x')),
    ],
    code: 'HTTP_MALFORMED',
  },
  'a pushed page': {
    write: (id) => [frame(PUSH, END_HEADERS, id, Buffer.concat([Buffer.from([0, 0, 0, 2]), STATUS_200]))],
    code: 'HTTP_MALFORMED',
  },
  'a megabyte of headers': {
    write: (id) => [
      frame(HEADERS, 0, id, STATUS_200),
      ...Array.from({ length: 70 }, (_, at) => frame(CONTINUATION, 0, id, field(`x${at}`, 'y'.repeat(16_000)))),
    ],
    code: 'HTTP_MALFORMED',
  },
  'CONTINUATION without end': {
    write: (id) => [frame(HEADERS, 0, id, STATUS_200)],
    endless: (id) => many(frame(CONTINUATION, 0, id), 500),
    code: 'HTTP_MALFORMED',
  },
  'one large field, named 100,000 times': {
    write: (id) => {
      const large = field('x', 'y'.repeat(3_900));
      // Kept in the table, then named by one byte.
      large[0] = 0x40;
      const names = Buffer.alloc(16_000, 0xbe);
      return [
        frame(HEADERS, 0, id, Buffer.concat([STATUS_200, large])),
        ...Array.from({ length: 6 }, (_, at) => frame(CONTINUATION, at === 5 ? END_HEADERS : 0, id, names)),
      ];
    },
    code: 'CONNECT_RESET',
  },
  'PING without end': { write: () => [], endless: () => many(frame(PING, 0, 0, Buffer.alloc(8)), 500), code: /./ },
  'SETTINGS without end': { write: () => [], endless: () => many(frame(SETTINGS, 0, 0), 500), code: /./ },
  'windows without end': {
    write: () => [],
    endless: () => many(frame(WINDOW, 0, 0, Buffer.from([0, 0, 0, 1])), 500),
    code: 'HTTP_MALFORMED',
  },
  'answers of 103 without end': {
    write: () => [],
    endless: (id) => many(frame(HEADERS, END_HEADERS, id, field(':status', '103')), 100),
    code: 'HTTP_MALFORMED',
  },
  'data without bytes, without end': {
    write: (id) => [head(id)],
    endless: (id) => many(frame(DATA, 0, id), 500),
    code: 'BODY_INCOMPLETE',
  },
};

async function serve() {
  const server = tls.createServer({ ...certificates.good, ALPNProtocols: ['h2'] }, (socket) => {
    let seen = NOTHING;
    let isStarted = false;
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      seen = Buffer.concat([seen, bytes]);
      if (!isStarted) {
        if (seen.length < 24) return;
        seen = seen.subarray(24);
        isStarted = true;
        socket.write(Buffer.concat([frame(SETTINGS, 0, 0), frame(SETTINGS, 1, 0)]));
      }
      while (seen.length >= 9 && seen.length >= 9 + seen.readUIntBE(0, 3)) {
        const type = seen[3];
        const id = seen.readUInt32BE(5);
        seen = seen.subarray(9 + seen.readUIntBE(0, 3));
        if (type === HEADERS) answer(socket, id);
      }
    });
  });
  let current: Answer | undefined;
  function answer(socket: tls.TLSSocket, id: number): void {
    if (!current) return void socket.write(Buffer.concat([head(id), frame(DATA, END_STREAM, id, Buffer.from('fine'))]));
    const { write, endless } = current;
    for (const bytes of write(id)) socket.write(bytes);
    if (!endless) return;
    const go = () => {
      while (!socket.destroyed && socket.write(endless(id)));
    };
    socket.on('drain', go);
    go();
  }
  const { port } = await listen(server as never, 'https');
  return { url: `https://good.example:${port}/`, next: (one: Answer | undefined) => void (current = one) };
}

it.each(Object.keys(ANSWERS))('%s', { timeout: 60_000 }, async (name) => {
  const server = await serve();
  const resolve = async () => ({ addresses: ['127.0.0.1'] });
  const h2 = engine({ ca: certificates.ca, allowH2: true, resolve });
  server.next(ANSWERS[name]);
  const failed: unknown = await fetchText(h2, server.url, { timeoutMs: 30_000 }).catch((error: unknown) => error);
  expect((failed as { code?: string }).code).toMatch(ANSWERS[name]!.code);
  server.next(undefined);
  expect((await fetchText(h2, server.url)).text).toBe('fine');
});
