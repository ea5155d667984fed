// Redis as the model's machine drives it: a real server, whose log of everything is cut to make it forget, one or more
// openings as processes have them, spill by hand, and pods with an outbox.
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { CrawlError } from '../../src/errors.js';
import type { SettleCall } from '../../src/frontier/frontier.js';
import { openRedisFrontier, type RedisFrontier } from '../../src/frontier/redis/frontier.js';
import { KEYS } from '../../src/frontier/redis/keys.js';
import { domainKey } from '../../src/frontier/redis/packing.js';
import type { SeenMemory } from '../../src/frontier/redis/seen-memory.js';
import { unpackStateNumbers } from '../../src/frontier/redis/state-numbers.js';
import { deliverOutbox } from '../../src/pods/supervise/outbox.js';
import type { HandClock } from '../../src/testing/conformance/bench.js';
import type { ModelOpening, ModelStore, ModelWorld } from '../../src/testing/model/store.js';
import type { Setting, SettingChoices } from '../../src/testing/model/steps.js';
import { folderFor, type ModelBackend, remove, routed, type Send, worldOf } from './model-world.js';
import { type RedisServer, startRedis } from './redis-server.js';

const SEEN: Record<Setting['seen'], SeenMemory> = {
  requests: { kind: 'requests' },
  exact: { kind: 'exact' },
  bloom: { kind: 'bloom', capacity: 200_000 },
  'small bloom': { kind: 'bloom', capacity: 60 },
};
const AOF = ['--appendonly', 'yes', '--appendfsync', 'no', '--auto-aof-rewrite-percentage', '0'];
/** A server's log of everything grows with each history: another server then. */
const HISTORIES_PER_SERVER = 200;

export function redisBackend(choices: SettingChoices, faults: Readonly<Record<string, number>>): ModelBackend {
  return {
    choices,
    faults,
    async open() {
      let server = await startRedis(AOF);
      let histories = 0;
      return {
        async make(setting, clock) {
          if (++histories % HISTORIES_PER_SERVER === 0) {
            await server.dispose();
            server = await startRedis(AOF);
          }
          return redisWorld(server, `h${histories}:`, setting, clock);
        },
        dispose: () => server.dispose(),
      };
    },
  };
}

async function redisWorld(server: RedisServer, name: string, setting: Setting, clock: HandClock): Promise<ModelWorld> {
  const folder = folderFor('redis');
  const stores: RedisStore[] = [];
  const send: Send = async (target, entries) => {
    const { guests, frontiers } = stores[target]!;
    await frontiers[0]!.add({ holder: 'guest', call: ++guests.calls, entries });
  };
  for (let pod = 0; pod < setting.pods; pod++) {
    stores.push(await redisStore(server, `${name}${pod}:`, join(folder, `spill${pod}`), setting, clock, pod, send));
  }
  async function restart(): Promise<void> {
    await server.stop('SIGKILL');
    await server.start();
    for (const { frontiers } of stores) for (const frontier of frontiers) await frontier.overview();
  }
  const [first] = stores as [RedisStore];
  let marked = 0;
  Object.assign(first, {
    restart,
    mark: () => Promise.resolve(void (marked = statSync(tailOf(server)).size)),
    async loseTail(andAll: boolean) {
      await server.stop('SIGKILL');
      truncateSync(tailOf(server), marked);
      if (andAll) for (const frontier of first.frontiers) await frontier.abandon();
      await server.start();
      if (andAll) for (let i = 0; i < setting.openings; i++) await first.openAt(i);
      const over: number[] = [];
      // All come back before one of them begins a new process.
      for (const [i, frontier] of first.frontiers.entries()) if (await isOver(frontier)) over.push(i);
      for (const i of over) await first.frontiers[i]!.abandon();
      for (const i of over) await first.openAt(i);
      // Whoever opens it finds the dead.
      await (await first.openAnother()).close();
      return over;
    },
  });
  return worldOf(clock, stores, async () => {
    for (const { frontiers } of stores) for (const frontier of frontiers) await frontier.abandon();
    remove(folder);
  });
}

/** Whether the process learns that what it did is undone. */
async function isOver(frontier: RedisFrontier): Promise<boolean> {
  try {
    await frontier.overview();
    return false;
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'QUEUE_ROLLED_BACK') return true;
    throw error;
  }
}

/** The file of the server's log that grows. */
function tailOf({ folder }: RedisServer): string {
  const list = join(folder, 'appendonlydir');
  const file = readdirSync(list).find((one) => one.endsWith('.incr.aof'));
  return join(list, file!);
}

interface RedisStore extends ModelStore {
  readonly frontiers: RedisFrontier[];
  readonly guests: { calls: number };
  openAnother(): Promise<RedisFrontier>;
  openAt(index: number): Promise<void>;
}

async function redisStore(
  server: RedisServer,
  prefix: string,
  folder: string,
  setting: Setting,
  clock: HandClock,
  pod: number,
  send: Send,
): Promise<RedisStore> {
  const { pacing, leaseMs, head, budget, seen, pods } = setting;
  const frontiers: RedisFrontier[] = [];
  const guests = { calls: 0 };
  const open = () =>
    openRedisFrontier({
      ...{ url: server.url, prefix, pacing, leaseMs, clock, seen: SEEN[seen] },
      ...(budget > 0 ? { domainBudget: budget } : {}),
      ...(head > 0 ? { spill: { folder, domainHead: head, byHand: true } } : {}),
    });
  const numbers = async () => {
    const packed = (await frontiers[0]!.pod.command('HGET', KEYS.state, 'numbers')) as Buffer | null;
    return unpackStateNumbers(packed);
  };
  async function budgetUsed(domain: string): Promise<number> {
    // The key is bytes, and rarely asked for.
    const client = new Redis(server.url);
    const key = domainKey(domain);
    const used = await client.hgetBuffer(
      Buffer.concat([Buffer.from(`${prefix}u:`), key.subarray(0, 2)]),
      key.subarray(2),
    );
    client.disconnect();
    return Number(used ?? 0);
  }
  const allowance = { epoch: 1, pages: Infinity };

  function openingOf(frontier: RedisFrontier): ModelOpening {
    return {
      frontier,
      ...(head > 0 ? { keep: () => frontier.keep() } : {}),
      ...(pods > 1 ? { settle: routed(pod, pods, frontier, send)! } : {}),
      pull: (call) => frontier.pod.pull(call),
      async allow(pages) {
        const { epoch } = allowance;
        if (pages === Infinity) {
          await frontier.pod.changeAllowance(epoch, { act: 'lift' });
          return pages;
        }
        const limit = await frontier.pod.changeAllowance(epoch, { act: 'limit' });
        const known = limit.allowance!;
        const act = pages > known ? 'give' : 'take';
        const change = { act, pages: Math.abs(pages - known), known } as const;
        const answer = await frontier.pod.changeAllowance(epoch, change);
        // A coordinator that was replaced changes nothing, nor does a call made twice.
        if (known !== answer.allowance) await frontier.pod.changeAllowance(epoch, change);
        await frontier.pod.changeAllowance(epoch - 1, { act: 'lift' });
        return answer.allowance!;
      },
    };
  }

  const openings: ModelOpening[] = [];
  async function openAt(index: number): Promise<void> {
    frontiers[index] = await open();
    openings[index] = openingOf(frontiers[index]);
  }
  for (let i = 0; i < setting.openings; i++) await openAt(i);
  const baseMs = clock.monotonicMs() - (await numbers()).now;
  const targets = (isAway: (pod: number) => boolean) => ({ isAway, add: send });
  let deliveries = 0;
  return {
    frontiers,
    guests,
    openings,
    openAnother: open,
    openAt,
    numbers,
    receives: 'queue',
    ...(budget > 0 ? { budgetUsed } : {}),
    zeroAtEnd: ['queued', 'retrying', 'leased', 'far', 'overflow', 'parsing', 'parsebytes', 'outbox'],
    rules: {
      remembers: seen === 'requests' ? 'requests' : 'fingerprints',
      isFilter: seen.endsWith('bloom'),
      spills: head > 0,
      ...(budget > 0 ? { budget } : {}),
    },
    behindMs: async () => clock.monotonicMs() - (await numbers()).now - baseMs,
    async reopen(index, how, awayMs) {
      await (how === 'close' ? frontiers[index]!.close() : frontiers[index]!.abandon());
      clock.advance(awayMs);
      // A process that comes new goes by the store's clock: here it is as late as can be.
      await frontiers.find((_, i) => i !== index)?.release('nobody');
      await openAt(index);
    },
    tick: async () => void (await frontiers[0]!.release('nobody')),
    async deliver(isAway) {
      const client = {
        settle: (parts: Omit<SettleCall, 'holder' | 'call'>) =>
          frontiers[0]!.settle({ ...parts, holder: 'delivery', call: ++deliveries }),
      };
      await deliverOutbox({ pod: frontiers[0]!.pod, client, targets: targets(isAway) });
    },
  };
}
