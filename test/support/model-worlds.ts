// Every backend of the frontier as the model's machine drives it: in memory, on disk (owner, shared), embedded pods with
// their inboxes, and Redis in its settings. Clocks are turned by hand.
import { join } from 'node:path';
import { createEmbeddedFrontier, type EmbeddedFrontier } from '../../src/frontier/embedded/frontier.js';
import type { QueueEntry } from '../../src/frontier/frontier.js';
import { openInbox } from '../../src/frontier/embedded/store/inbox-lmdb.js';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { createMemoryKv } from '../../src/frontier/embedded/store/memory.js';
import { takeIn } from '../../src/pods/stores/embedded-store.js';
import { packOutbox } from '../../src/pods/worker/routing-client.js';
import type { HandClock } from '../../src/testing/conformance/bench.js';
import type { ModelOpening, ModelStore } from '../../src/testing/model/store.js';
import type { Setting } from '../../src/testing/model/steps.js';
import { postgresBackend } from './model-postgres.js';
import { redisBackend } from './model-redis.js';
import { folderFor, type ModelBackend, remove, routed, type Send, worldOf } from './model-world.js';

const OWNER = 'the process itself';

/** An embedded store of one or more openings. */
async function embeddedStore(
  clock: HandClock,
  count: number,
  open: () => Promise<EmbeddedFrontier>,
  rules: ModelStore['rules'],
): Promise<ModelStore & { readonly frontiers: readonly EmbeddedFrontier[] }> {
  const frontiers: EmbeddedFrontier[] = [];
  const openings: ModelOpening[] = [];
  let allowance = Infinity;
  async function openAt(index: number): Promise<void> {
    const frontier = await open();
    frontier.setAllowance(allowance);
    frontiers[index] = frontier;
    openings[index] = {
      frontier,
      // The allowance is one process's own: with several nobody sets it.
      ...(count > 1
        ? {}
        : { allow: (pages: number) => (frontier.setAllowance((allowance = pages)), Promise.resolve(pages)) }),
    };
  }
  for (let i = 0; i < count; i++) await openAt(i);
  return {
    rules,
    openings,
    frontiers,
    behindMs: () => Promise.resolve(0),
    async reopen(index, how, awayMs) {
      await (how === 'close' ? frontiers[index]!.close() : frontiers[index]!.abandon());
      clock.advance(awayMs);
      await openAt(index);
    },
  };
}

const memory: ModelBackend = {
  choices: {},
  open: () =>
    Promise.resolve({
      async make({ pacing, leaseMs }: Setting, clock: HandClock) {
        const kv = createMemoryKv();
        const options = { pacing, leaseMs, clock, holder: OWNER, access: 'owner', where: 'memory' } as const;
        const open = async (): Promise<EmbeddedFrontier> => {
          const frontier = createEmbeddedFrontier(kv, options);
          await frontier.open();
          return frontier;
        };
        const store = await embeddedStore(clock, 1, open, { remembers: 'requests', unexpiring: OWNER });
        return worldOf(clock, [store], () => store.frontiers[0]!.close());
      },
      dispose: () => Promise.resolve(),
    }),
};

function lmdb(access: 'owner' | 'shared'): ModelBackend {
  return {
    choices: access === 'shared' ? { openings: 3 } : {},
    open: () =>
      Promise.resolve({
        async make({ pacing, leaseMs, openings }: Setting, clock: HandClock) {
          const folder = folderFor(access);
          const open = () => openLmdbFrontier(folder, { pacing, leaseMs, clock, access, holder: OWNER });
          const owner = access === 'owner' ? { unexpiring: OWNER } : {};
          const store = await embeddedStore(clock, openings, open, { remembers: 'requests', ...owner });
          return worldOf(clock, [store], async () => {
            for (const frontier of store.frontiers) await frontier.close();
            remove(folder);
          });
        },
        dispose: () => Promise.resolve(),
      }),
  };
}

const embeddedPods: ModelBackend = {
  choices: { pods: 3 },
  open: () =>
    Promise.resolve({
      async make({ pacing, leaseMs, pods }: Setting, clock: HandClock) {
        const folder = folderFor('pods');
        const inboxes = Array.from({ length: pods }, (_, pod) => openInbox(join(folder, `inbox${pod}`)));
        const send: Send = (target, entries) => inboxes[target]!.append(packOutbox(entries), entries.length);
        const stores: ModelStore[] = [];
        const closings: (() => Promise<void>)[] = [];
        for (let pod = 0; pod < pods; pod++) {
          const open = () => openLmdbFrontier(join(folder, `pod${pod}`), { pacing, leaseMs, clock, holder: OWNER });
          const store = await embeddedStore(clock, 1, open, { remembers: 'requests', unexpiring: OWNER });
          const inbox = inboxes[pod]!;
          let taken = 0;
          let opening: { plain?: ModelOpening; routing?: ModelOpening } = {};
          closings.push(() => store.frontiers[0]!.close());
          const add = (entries: readonly QueueEntry[]) =>
            store.frontiers[0]!.add({ holder: `takes in ${taken}`, call: ++taken, entries });
          stores.push({
            ...store,
            receives: 'inbox',
            get openings() {
              const [plain] = store.openings as [ModelOpening];
              if (opening.plain !== plain) {
                const settle = routed(pod, pods, plain.frontier, send)!;
                opening = { plain, routing: { ...plain, settle } };
              }
              return [opening.routing!];
            },
            get inboxLinks() {
              return inbox.links;
            },
            async takeIn(isCut) {
              const dies = () => Promise.reject(new Error('killed here'));
              const cut = { read: (most: number) => inbox.read(most), remove: dies };
              await takeIn(isCut ? cut : inbox, { add }).catch((error: unknown) => {
                if (!isCut) throw error;
              });
              if (isCut) await store.reopen(0, 'kill', 0);
            },
          });
        }
        return worldOf(clock, stores, async () => {
          for (const close of closings) await close();
          for (const inbox of inboxes) await inbox.close();
          remove(folder);
        });
      },
      dispose: () => Promise.resolve(),
    }),
};

const HEADS = [1, 1, 2, 3, 5, 10, 30, 100, 300, 1_000];
const RARE = { restart: 0.1, mark: 0.2, loseTail: 0.2 };
const OFTEN = { restart: 0.7, mark: 3, loseTail: 1.5 };

/** Every backend, by the name that tests and measurements use. */
export const MODEL_BACKENDS = {
  memory,
  lmdb: lmdb('owner'),
  'lmdb-shared': lmdb('shared'),
  'embedded-pods': embeddedPods,
  redis: redisBackend({ openings: 3, seen: ['requests', 'exact', 'bloom', 'small bloom'], hasBudget: true }, RARE),
  'redis-spill': redisBackend(
    { openings: 3, heads: HEADS, seen: ['exact', 'bloom', 'requests'], hasBudget: true },
    RARE,
  ),
  'redis-tails': redisBackend({ openings: 2, heads: [0, 1, 3, 20], seen: ['exact', 'requests'] }, OFTEN),
  'redis-pods': redisBackend({ openings: 2, heads: [0, 1, 3, 50], seen: ['exact'], pods: 2 }, { restart: 0.1 }),
  postgres: postgresBackend,
} as const satisfies Record<string, ModelBackend>;

export type ModelBackendName = keyof typeof MODEL_BACKENDS;
