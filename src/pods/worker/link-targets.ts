// The other pods as targets for links. An unreachable pod is retried in the background: callers do not wait for it
// twice.
import { asCrawlError, CrawlError } from '../../errors.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import { createFrontierClient, type FrontierClient } from '../../frontier/client.js';
import type { RedisFrontier } from '../../frontier/redis/frontier.js';
import type { Log } from '../../observe/log.js';

export interface LinkTargets {
  /** Resolves when the pod's store has confirmed the entries; rejects at once while it is unreachable. */
  add(pod: number, entries: readonly QueueEntry[]): Promise<void>;
  isAway(pod: number): boolean;
  /** Pods that are unreachable now. */
  readonly away: number;
  close(): Promise<void>;
}

export interface LinkTargetsOptions {
  readonly open: (pod: number) => Promise<RedisFrontier>;
  readonly log: Log;
}

const LOOK_AGAIN_MS = 1_000;

interface Target {
  frontier?: RedisFrontier;
  client?: FrontierClient;
  opening?: Promise<FrontierClient>;
  timer?: NodeJS.Timeout;
}

export function createLinkTargets(options: LinkTargetsOptions): LinkTargets {
  const { open, log } = options;
  const targets = new Map<number, Target>();
  let isClosed = false;

  function targetOf(pod: number): Target {
    let target = targets.get(pod);
    if (!target) targets.set(pod, (target = {}));
    return target;
  }

  async function clientOf(pod: number, target: Target): Promise<FrontierClient> {
    if (target.client) return target.client;
    target.opening ??= open(pod)
      .then((frontier) => {
        target.frontier = frontier;
        return (target.client = createFrontierClient(frontier));
      })
      .finally(() => (target.opening = undefined));
    return target.opening;
  }

  function lose(pod: number, target: Target, error: CrawlError): void {
    if (target.timer || isClosed) return;
    log.warning(`Pod ${pod} does not take links: they wait in the outbox until it does`, {
      code: error.code,
      reason: error.message,
    });
    lookAgain(pod, target);
  }

  function lookAgain(pod: number, target: Target): void {
    target.timer = setTimeout(() => {
      void clientOf(pod, target)
        .then(() => target.frontier!.pod.reading())
        .then(
          () => {
            target.timer = undefined;
            log.info(`Pod ${pod} takes links again`);
          },
          async () => {
            // A store that was emptied and recreated is a new one: it must be opened again.
            await forget(target);
            if (!isClosed) lookAgain(pod, target);
          },
        );
    }, LOOK_AGAIN_MS).unref();
  }

  async function forget(target: Target): Promise<void> {
    const { frontier } = target;
    target.frontier = undefined;
    target.client = undefined;
    await frontier?.abandon().catch(() => undefined);
  }

  return {
    async add(pod, entries) {
      const target = targetOf(pod);
      if (target.timer) throw new CrawlError('QUEUE_UNREACHABLE', `pod ${pod} is unreachable`);
      try {
        await (await clientOf(pod, target)).add(entries);
      } catch (thrown) {
        const error = asCrawlError(thrown, 'QUEUE_UNREACHABLE');
        lose(pod, target, error);
        throw error;
      }
    },
    isAway: (pod) => targets.get(pod)?.timer !== undefined,
    get away() {
      return [...targets.values()].filter(({ timer }) => timer).length;
    },
    async close() {
      isClosed = true;
      for (const target of targets.values()) {
        clearTimeout(target.timer);
        await target.frontier?.close().catch(() => undefined);
      }
    },
  };
}
