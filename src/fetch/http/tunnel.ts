// CONNECT tunnels: asks an HTTP(S) proxy for a raw connection to a target over an open socket.
// Reads no more than the proxy's answer; what follows stays in the socket for TLS.
import type { Socket } from 'node:net';
import { CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';

/** Proxies answer with a line or two; more is not an answer to CONNECT. */
const MAX_ANSWER_BYTES = LIMITS.tunnelAnswerBytes.max;

/** Resolves when the proxy has opened the way to `authority` (host:port); rejects with PROXY_FAILED. */
export function openTunnel(
  socket: Socket,
  authority: string,
  credentials: string | undefined,
  proxyName: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer: Buffer = Buffer.alloc(0);

    function finish(error?: CrawlError): void {
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
      if (error) reject(error);
      else resolve();
    }
    const fail = (what: string, cause?: unknown) =>
      finish(new CrawlError('PROXY_FAILED', `proxy ${proxyName}: ${what}`, { cause }));
    const onEnd = () => fail(`closed the connection while opening a tunnel to ${authority}`);
    const onError = (error: Error) => fail(`connection failed while opening a tunnel to ${authority}`, error);

    function onReadable(): void {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        answer = Buffer.concat([answer, chunk]);
        const end = answer.indexOf('\r\n\r\n');
        if (end < 0) {
          if (answer.length > MAX_ANSWER_BYTES) {
            limitReached('tunnelAnswerBytes');
            fail('sent an endless answer to CONNECT');
          } else continue;
          return;
        }
        const status = statusOf(answer);
        if (status === undefined) return fail('did not answer CONNECT in HTTP');
        if (status < 200 || status > 299) return fail(`refused a tunnel to ${authority} with status ${status}`);
        const rest = answer.subarray(end + 4);
        finish();
        if (rest.length > 0) socket.unshift(rest);
        return;
      }
    }

    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
    const authorization = credentials === undefined ? '' : `Proxy-Authorization: ${credentials}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  });
}

function statusOf(answer: Buffer): number | undefined {
  const line = answer.toString('latin1', 0, Math.min(answer.length, 64));
  const match = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(line);
  return match ? Number(match[1]) : undefined;
}
