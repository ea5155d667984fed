// A process that leases from a frontier in Redis, says so, and waits to be killed: node redis-holder.mjs URL MAX
import { source } from './source.mjs';

const { openRedisFrontier } = await source('frontier/redis/frontier');

const [, , url, max] = process.argv;
const frontier = await openRedisFrontier({ url, pacing: { delayMs: 0, turns: 10 }, create: false });
const { leases } = await frontier.lease({ holder: `child-${process.pid}`, call: 1, max: Number(max) });
console.log(leases.length);
setInterval(() => undefined, 1_000);
