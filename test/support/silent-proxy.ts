// A TCP proxy on loopback whose open connections can be silenced, both ways or one way, while new ones work.
// What a silenced connection is sent is swallowed and no end is passed on, as by a firewall that forgot it.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Silence = 'both' | 'toServer' | 'toClient';

export interface SilentProxy {
  readonly port: number;
  /** Connections that were made so far. */
  readonly accepted: number;
  /** Every connection that is open now passes nothing on any more in that direction. */
  silence(direction: Silence): void;
  close(): Promise<void>;
}

export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  interface Pair {
    readonly client: Socket;
    readonly server: Socket;
    isSilentToServer: boolean;
    isSilentToClient: boolean;
  }
  const pairs = new Set<Pair>();
  let accepted = 0;
  const listener = createServer((client) => {
    accepted++;
    const server = connect(targetPort, '127.0.0.1');
    const pair: Pair = { client, server, isSilentToServer: false, isSilentToClient: false };
    pairs.add(pair);
    client.on('data', (chunk) => {
      if (!pair.isSilentToServer) server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!pair.isSilentToClient) client.write(chunk);
    });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => {
      if (!pair.isSilentToServer) server.destroy();
    });
    server.on('close', () => {
      if (!pair.isSilentToClient) client.destroy();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as { port: number }).port,
    get accepted() {
      return accepted;
    },
    silence(direction) {
      for (const pair of pairs) {
        if (direction !== 'toClient') pair.isSilentToServer = true;
        if (direction !== 'toServer') pair.isSilentToClient = true;
      }
    },
    async close() {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      listener.close();
      await once(listener, 'close');
    },
  };
}
