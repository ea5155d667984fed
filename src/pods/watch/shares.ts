// How the budget of a watch is shared between the pods: by how many pages each knows.
// Promise: the shares that machines use add up to at most the whole, but for the second in which loads change.
import type { GlobalBoard } from '../stores/pod-view.js';

/** Parts of the budget by pod; one that knows nothing yet has a little, to find its first pages. */
export function sharesOf(loads: ReadonlyMap<number, number>, pods: number): number[] {
  const weights = Array.from({ length: pods }, (_, pod) => (loads.get(pod) ?? 0) + 1);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / whole);
}

export interface Shares {
  /** A pod of this machine knows so many pages. */
  hear(pod: number, load: number): void;
  /** Exchanges loads with the other machines, and tells each of our pods its share. */
  look(): void;
}

export function createShares(parts: {
  readonly pods: number;
  readonly ownPods: readonly number[];
  readonly board: Pick<GlobalBoard, 'tellLoads' | 'loads'>;
  readonly tell: (pod: number, part: number) => void;
}): Shares {
  const own = new Map<number, number>();
  let looking: Promise<void> | undefined;

  async function exchange(): Promise<void> {
    let loads: ReadonlyMap<number, number> = own;
    if (parts.ownPods.length < parts.pods) {
      await parts.board.tellLoads(own);
      loads = new Map([...(await parts.board.loads()), ...own]);
    }
    const shares = sharesOf(loads, parts.pods);
    for (const pod of parts.ownPods) parts.tell(pod, shares[pod]!);
  }

  return {
    hear: (pod, load) => void own.set(pod, load),
    look() {
      // Without the board each pod goes on with the share it has.
      looking ??= exchange()
        .catch(() => undefined)
        .finally(() => (looking = undefined));
    },
  };
}
