// CPU time per page over HTTPS with and without HTTP/2, on kept and on new connections:
// node --import jiti/register bench/http2.ts [PAGES]
import { fork } from 'node:child_process';
import { createSecureServer } from 'node:http2';
import { fileURLToPath } from 'node:url';
import { createHttpEngine } from '../src/fetch/http/engine.js';
import { makeCertificates } from '../test/integration/http-certificates.js';

const PAGES = Number(process.argv[2] ?? 3_000);
const BODY = Buffer.from(`<title>page</title>${'<p>Some words of a page.</p>'.repeat(800)}`);
const ROUNDS = 3;
const CONCURRENCY = 20;

if (process.send) serve();
else await measure();

function serve(): void {
  process.once('message', ({ key, cert }: { key: string; cert: string }) => {
    const server = createSecureServer({ key, cert, allowHTTP1: true }, (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(BODY);
    });
    server.listen(0, '127.0.0.1', () => process.send!(server.address()));
  });
}

async function measure(): Promise<void> {
  const { good, ca } = makeCertificates();
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: ['--import', 'jiti/register'] });
  child.send({ key: String(good.key), cert: String(good.cert) });
  const { port } = await new Promise<{ port: number }>((resolve) => child.once('message', resolve));
  const resolve = async () => ({ addresses: ['127.0.0.1'] });
  for (const kind of ['kept', 'new'] as const) {
    for (const allowH2 of [false, true]) {
      const spent: number[] = [];
      for (let round = 0; round <= ROUNDS; round++) {
        const engine = createHttpEngine({ ca, allowH2, resolve, allowPrivateAddresses: true });
        const before = process.cpuUsage();
        let left = PAGES;
        const worker = async () => {
          while (left-- > 0) {
            const host = kind === 'kept' ? 'good.example' : `h${left}.example`;
            const order = { url: `https://${host}:${port}/`, method: 'GET', headers: {} };
            const rules = { redirects: 'follow', maxRedirects: 1, timeoutMs: 20_000, maxBodyBytes: 1_000_000 } as const;
            await engine.visit(
              { ...order, ...rules, ignoreTlsErrors: kind === 'new' },
              async ({ body }) => body.length,
            );
          }
        };
        await Promise.all(Array.from({ length: CONCURRENCY }, worker));
        const { user, system } = process.cpuUsage(before);
        // The first round warms up.
        if (round > 0) spent.push((user + system) / 1_000 / PAGES);
        await engine.close();
      }
      const median = spent.sort((a, b) => a - b)[1]!;
      console.log(`${kind} connections, ${allowH2 ? 'HTTP/2' : 'HTTP/1.1'}: ${median.toFixed(3)} CPU-ms per page`);
    }
  }
  child.kill();
}
