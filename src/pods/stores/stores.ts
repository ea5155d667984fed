// The stores of a crawl as an orchestrator opens them: its own pods, a view of the others, and the board of all machines.
// Promise: all stores that cannot be opened are reported together, and the opened ones are closed.
import { CrawlError } from '../../errors.js';
import type { PodsConfig } from '../config/types.js';
import { createLocalBoard, type MessageRouter, openOwnEmbeddedPod } from './embedded-pod.js';
import type { GlobalBoard, OwnPod, PodView } from './pod-view.js';
import { openOwnRedisPod, openRedisBoard, viewRemotePod } from './redis-pod.js';

export interface PodStores {
  readonly own: readonly OwnPod[];
  readonly board: GlobalBoard;
  /** Every pod of the crawl, by index. */
  all(): readonly PodView[];
  close(): Promise<void>;
}

export async function openStores(
  config: PodsConfig,
  router: MessageRouter,
  warn: (message: string) => void,
): Promise<PodStores> {
  const isEmbedded = config.pods[0]!.kind === 'embedded';
  const opened = await Promise.allSettled(
    config.ownPods.map((index) =>
      isEmbedded ? openOwnEmbeddedPod(config, index, router) : openOwnRedisPod(config, index, warn),
    ),
  );
  const own = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const closers: { close(): Promise<void> }[] = [...own];
  const close = async () => {
    for (const one of closers) await one.close().catch(() => undefined);
  };
  const refusals = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason as CrawlError] : []));
  if (refusals.length > 0) {
    await close();
    if (refusals.length === 1) throw refusals[0];
    throw new CrawlError(refusals[0]!.code, refusals.map(({ message }) => message).join('; '), { cause: refusals[0] });
  }
  const board = isEmbedded ? createLocalBoard() : await openRedisBoard(config, warn);
  if ('close' in board) closers.push(board as { close(): Promise<void> });
  let views: PodView[] | undefined;
  return {
    own,
    board,
    all() {
      views ??= config.pods.map((_, index) => {
        const mine = own.find((pod) => pod.index === index);
        if (mine) return mine;
        const remote = viewRemotePod(config, index, warn);
        closers.push(remote);
        return remote;
      });
      return views;
    },
    close,
  };
}
