// The client of a worker, as its supervisor hears of it: every new holder id, and the first work of the process.
// Promise: whoever supervises knows of the first lease before the request is in anybody's hands, however soon the worker
// dies of it.
import { createFrontierClient, type FrontierClient, newHolderId } from '../../frontier/client.js';

export interface HolderListener {
  /** Told of each life: the supervisor releases it when this process dies. */
  readonly onHolder: (id: string) => void;
  /** Told once of each: the process has leased a request, and has settled one. */
  readonly onProgress: (progress: Progress) => void;
}

export type Progress = 'leased' | 'settled';

export function createReportingClient(
  frontier: Parameters<typeof createFrontierClient>[0],
  leaseMs: number,
  { onHolder, onProgress }: HolderListener,
  id = newHolderId(),
): FrontierClient {
  const client = createFrontierClient(frontier, { id, leaseMs, onLost: () => onHolder(client.id) });
  const told = new Set<Progress>();
  const tell = (progress: Progress): void => {
    if (told.has(progress)) return;
    told.add(progress);
    onProgress(progress);
  };
  onHolder(id);
  return {
    get id() {
      return client.id;
    },
    add: (entries) => client.add(entries),
    async lease(call) {
      const answer = await client.lease(call);
      if (answer.leases.length > 0) tell('leased');
      return answer;
    },
    async settle(call, life) {
      const answer = await client.settle(call, life);
      if (answer.accepted.includes(true)) tell('settled');
      return answer;
    },
    renew: () => client.renew(),
    isGood: (life) => client.isGood(life),
  };
}
