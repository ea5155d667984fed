// A process that leases a request and asks for it over a slow connection; its test stops it meanwhile, beyond its lease.
// Says `leased`, then how the visit ended. Arguments: the Redis, the URL.
import { leaseCheck } from '../../src/crawl/run/turn.js';
import type { CrawlError } from '../../src/errors.js';
import { createHttpEngine } from '../../src/fetch/http/engine.js';
import { createFrontierClient } from '../../src/frontier/client.js';
import { openRedisFrontier } from '../../src/frontier/redis/frontier.js';

const [redisUrl, url] = process.argv.slice(2) as [string, string];
const leaseMs = 3_000;
const frontier = await openRedisFrontier({ url: redisUrl, pacing: { delayMs: 0, turns: 1 }, leaseMs });
const client = createFrontierClient(frontier, { leaseMs });
const engine = createHttpEngine({ allowPrivateAddresses: true });
const { leases } = await client.lease({ max: 1 });
const life = client.id;
process.stdout.write(`leased ${leases.length}\n`);
const order = {
  url,
  method: 'GET',
  headers: {},
  redirects: 'report' as const,
  maxRedirects: 0,
  timeoutMs: 60_000,
  maxBodyBytes: 10_000,
  ignoreTlsErrors: true,
  beforeSend: leaseCheck(() => client.isGood(life)),
};
const end = await engine
  .visit(order, async ({ statusCode }) => `answered ${statusCode}`)
  .catch((error: unknown) => `failed ${(error as CrawlError).code}`);
process.stdout.write(`${end}\n`);
await engine.close();
await frontier.abandon();
