// Delivers the links in a pod's outbox once their target pod is back.
// Promise: a note leaves the outbox only after its links are confirmed; a crash in between repeats but loses nothing.
import { killPoint } from '../../base/kill-points.js';
import type { FrontierClient } from '../../frontier/client.js';
import type { PodOperations } from '../../frontier/redis/pod-operations.js';
import type { Log } from '../../observe/log.js';
import type { LinkTargets } from '../worker/link-targets.js';
import { podOfName, unpackOutbox } from '../worker/routing-client.js';

export interface OutboxDelivery {
  close(): Promise<void>;
}

const LOOK_MS = 2_000;
/** The outbox is bounded in links, so it has few notes. */
const NOTES_A_ROUND = 1_000;

interface DeliveryOptions {
  readonly pod: Pick<PodOperations, 'outboxNotes'>;
  readonly client: Pick<FrontierClient, 'settle'>;
  readonly targets: Pick<LinkTargets, 'add' | 'isAway'>;
}

/** Delivers what is possible now. */
export async function deliverOutbox({ pod, client, targets }: DeliveryOptions): Promise<void> {
  for (;;) {
    const notes = await pod.outboxNotes(NOTES_A_ROUND);
    const gone: Record<string, null> = {};
    for (const [name, text] of notes) {
      const target = podOfName(name);
      if (targets.isAway(target)) continue;
      killPoint('outbox.before-send');
      const isIn = await targets.add(target, unpackOutbox(text)).then(
        () => true,
        () => false,
      );
      if (isIn) gone[name] = null;
    }
    if (Object.keys(gone).length === 0) return;
    killPoint('outbox.before-forget');
    await client.settle({ settlements: [], notes: gone });
    killPoint('outbox.after-forget');
  }
}

export function startOutboxDelivery(options: DeliveryOptions & { readonly log: Log }): OutboxDelivery {
  const { log } = options;
  let working: Promise<void> | undefined;

  const timer = setInterval(() => {
    working ??= deliverOutbox(options)
      .catch((error: unknown) => log.warning(`Could not deliver the outbox, will retry: ${(error as Error).message}`))
      .finally(() => (working = undefined));
  }, LOOK_MS).unref();

  return {
    async close() {
      clearInterval(timer);
      await working;
    },
  };
}
