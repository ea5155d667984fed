// How many slots of a batch one domain may hold: all while it is alone, else a few less.
// Promise: a slow domain leaves a tenth of the slots to others with pending URLs; no slot stays idle for it.

export interface DomainShares {
  /** A URL of the domain is pending. */
  pending(domain: string): void;
  /** It ended. */
  ended(domain: string): void;
  /** Whether all that is pending belongs to one domain. */
  readonly isAlone: boolean;
}

/** Of the slots, kept free of any one domain while there are others. */
const RESERVED_SHARE = 1 / 10;

/** @param setTurns tells the queue how many requests of a domain may be out at once */
export function createDomainShares(slots: number, allTurns: number, setTurns: (turns: number) => void): DomainShares {
  const counts = new Map<string, number>();
  const shared = Math.max(1, slots - Math.max(1, Math.floor(slots * RESERVED_SHARE)));
  let turns = allTurns;

  function follow(): void {
    const wanted = counts.size > 1 ? shared : allTurns;
    if (wanted !== turns) setTurns((turns = wanted));
  }

  return {
    pending(domain) {
      counts.set(domain, (counts.get(domain) ?? 0) + 1);
      follow();
    },
    ended(domain) {
      const left = (counts.get(domain) ?? 0) - 1;
      if (left > 0) counts.set(domain, left);
      else counts.delete(domain);
      follow();
    },
    get isAlone() {
      return counts.size === 1;
    },
  };
}
