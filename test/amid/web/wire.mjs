// How the hostile hosts write to a socket: heads, chunks, drips and floods, by hand, since no HTTP library would send them.
// Promise: writing stops when the client disconnects, and this process stays small.

/** An ordinary answer. */
export function answer(socket, body, { status = '200 OK', type = 'text/html; charset=utf-8', headers = [] } = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const lines = [`HTTP/1.1 ${status}`, `content-type: ${type}`, `content-length: ${bytes.length}`, ...headers];
  socket.write(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`);
  socket.end(bytes);
}

/** The head of an answer whose body the caller writes. */
export function head(socket, ...headers) {
  const lines = ['HTTP/1.1 200 OK', 'content-type: text/html', 'connection: close', ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
}

/** One piece after the other, as fast as the client reads, until it goes away or they end. */
export function flood(socket, pieces) {
  const iterator = pieces[Symbol.iterator]();
  const pump = () => {
    while (!socket.destroyed) {
      const { value, done } = iterator.next();
      if (done) return socket.end();
      if (!socket.write(value)) return void socket.once('drain', pump);
    }
  };
  pump();
}

/** One piece every so often, until the client goes away. */
export function drip(socket, pieces, everyMs) {
  const iterator = pieces[Symbol.iterator]();
  const timer = setInterval(() => {
    const { value, done } = iterator.next();
    if (socket.destroyed || done) {
      clearInterval(timer);
      if (!socket.destroyed) socket.end();
    } else socket.write(value);
  }, everyMs);
}

export function* forever(make) {
  for (let n = 0; ; n++) yield make(n);
}

export function* times(count, make) {
  for (let n = 0; n < count; n++) yield make(n);
}

/** Written, then the connection is reset. */
export function reset(socket, text = '') {
  if (text === '') return void socket.resetAndDestroy();
  socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 30));
}
