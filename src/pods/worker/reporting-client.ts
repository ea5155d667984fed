// Reports each new holder id and the worker's first lease and settle to the supervisor.
// Promise: the supervisor learns of the first lease before the request is processed, even if it kills the worker.
import { createFrontierClient, type FrontierClient, newHolderId } from '../../frontier/client.js';

export interface HolderListener {
  /** Called with each holder: the supervisor releases it when this process dies. */
  readonly onHolder: (id: string) => void;
  /** Called once each: the process has leased a request, and has settled one. */
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
