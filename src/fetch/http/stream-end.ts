// Tells whether a response over HTTP/2 is complete. Node ends the stream of a response alike when the server finishes it,
// cancels it, or loses the connection, and the client passes on that end only.
// Promise: complete means that the server said so (END_STREAM) while the stream was open.
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/** The client keeps the session of a connection on its socket, under a symbol of this name. */
const SESSION_SYMBOL = 'http2Session';

interface Watched {
  /** Whether the last request of this connection got a complete response. */
  isComplete: boolean;
}

/** By socket: a connection serves one request at a time. */
const watched = new WeakMap<Socket, Watched>();

/** Call it before each request of a connection; does nothing over HTTP/1.1. */
export function watchStreamEnd(socket: Socket | undefined): void {
  if (!socket || (socket as { alpnProtocol?: unknown }).alpnProtocol !== 'h2') return;
  const known = watched.get(socket);
  if (known) {
    known.isComplete = false;
    return;
  }
  const session = sessionOf(socket);
  if (!session) return;
  const state: Watched = { isComplete: false };
  watched.set(socket, state);
  const request = session.request.bind(session);
  session.request = (...options) => {
    const stream = request(...options);
    noteEnd(stream, state);
    return stream;
  };
}

/** Whether the response that just ended over this connection was cut short; false where nothing is known. */
export function wasStreamCut(socket: Socket | undefined): boolean {
  const state = socket && watched.get(socket);
  return state !== undefined && !state.isComplete;
}

/** The end of the server's data arrives while the stream is open; every other end closes the stream first. */
function noteEnd(stream: ClientHttp2Stream, state: Watched): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && !stream.closed) state.isComplete = true;
    return push(chunk, encoding);
  };
}

function sessionOf(socket: Socket): ClientHttp2Session | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === SESSION_SYMBOL);
  return symbol && (socket as unknown as Record<symbol, ClientHttp2Session | undefined>)[symbol];
}
