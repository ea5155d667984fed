// Reports each new holder id and the worker's first lease and settle to the supervisor.
// Promise: the supervisor learns of the first lease before the request is processed, even if it kills the worker.
import { createHolder, type Holder, newHolderId } from '../../frontier/client.js';

export interface HolderListener {
  /** Called with each holder: the supervisor releases it when this process dies. */
  readonly onHolder: (id: string) => void;
  /** Called once each: the process has leased a request, and has settled one. */
  readonly onProgress: (progress: Progress) => void;
}

export type Progress = 'leased' | 'settled';

export function tellingHolder(
  frontier: Parameters<typeof createHolder>[0],
  leaseMs: number,
  { onHolder, onProgress }: HolderListener,
  id = newHolderId(),
): Holder {
  const holder = createHolder(frontier, { id, leaseMs, onLost: () => onHolder(holder.id) });
  const told = new Set<Progress>();
  const tell = (progress: Progress): void => {
    if (told.has(progress)) return;
    told.add(progress);
    onProgress(progress);
  };
  onHolder(id);
  return {
    get id() {
      return holder.id;
    },
    add: (entries) => holder.add(entries),
    async lease(call) {
      const answer = await holder.lease(call);
      if (answer.leases.length > 0) tell('leased');
      return answer;
    },
    async settle(call, life) {
      const answer = await holder.settle(call, life);
      if (answer.accepted.includes(true)) tell('settled');
      return answer;
    },
    renew: () => holder.renew(),
    isGood: (life) => holder.isGood(life),
  };
}
