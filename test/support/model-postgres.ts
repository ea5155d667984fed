// Postgres as the model's machine drives it: a real server, and one or more openings as processes have them.
import { randomUUID } from 'node:crypto';
import { createPostgresStorage, type PostgresFrontier } from '../../src/postgres/index.js';
import type { ModelOpening, ModelStore } from '../../src/testing/model/store.js';
import { type ModelBackend, worldOf } from './model-world.js';
import { startPostgres } from './postgres-server.js';

export const postgresBackend: ModelBackend = {
  choices: { openings: 3 },
  async open() {
    const server = await startPostgres();
    const client = createPostgresStorage({ url: server.url });
    return {
      async make({ pacing, leaseMs, openings: count }, clock) {
        const id = randomUUID();
        const frontiers: PostgresFrontier[] = [];
        const openings: ModelOpening[] = [];
        async function openAt(index: number): Promise<void> {
          const opening = { id, holder: 'the process itself', access: 'shared', onForgotten: () => undefined } as const;
          const frontier = await client.openFrontier({ ...opening, pacing, leaseMs, clock });
          frontiers[index] = frontier;
          openings[index] = { frontier };
        }
        for (let i = 0; i < count; i++) await openAt(i);
        const store: ModelStore = {
          rules: { remembers: 'requests' },
          openings,
          behindMs: () => Promise.resolve(0),
          tick: async () => void (await frontiers[0]!.overview()),
          async reopen(index, how, awayMs) {
            await (how === 'close' ? frontiers[index]!.close() : frontiers[index]!.abandon());
            clock.advance(awayMs);
            await openAt(index);
          },
        };
        return worldOf(clock, [store], async () => {
          for (const frontier of frontiers) await frontier.close();
        });
      },
      async dispose() {
        await client.close();
        await server.dispose();
      },
    };
  },
};
