// Between extraction and the frontier: drops links whose fingerprints the frontier confirmed recently.
// A bounded, two-way set-associative cache: it may forget a fingerprint but never invents one.
import type { Fingerprint } from '../request/fingerprint.js';

export interface RecentFingerprints {
  /** Most fingerprints it can hold. */
  readonly capacity: number;
  has(fingerprint: Fingerprint): boolean;
  /** Adds a fingerprint that the frontier has confirmed, replacing an older one. */
  add(fingerprint: Fingerprint): void;
  /** Clears it: the frontier may have forgotten some. */
  clear(): void;
}

const DEFAULT_SIZE = 65_536;

/**
 * @example
 * const recent = createRecentFingerprints({ size: 65_536 });
 * const fresh = links.filter((link) => !recent.has(link.fingerprint));
 */
export function createRecentFingerprints(options: { size?: number } = {}): RecentFingerprints {
  let sets = 1;
  while (sets * 2 < (options.size ?? DEFAULT_SIZE)) sets *= 2;
  const mask = sets - 1;
  // Per set: newer hi, newer lo, older hi, older lo. The pair 0, 0 stands for an empty way and is never kept.
  const words = new Uint32Array(sets * 4);

  return {
    capacity: sets * 2,
    has({ hi, lo }) {
      if (hi === 0 && lo === 0) return false;
      const at = (lo & mask) * 4;
      return (words[at + 1] === lo && words[at] === hi) || (words[at + 3] === lo && words[at + 2] === hi);
    },
    add({ hi, lo }) {
      const at = (lo & mask) * 4;
      if (words[at + 1] === lo && words[at] === hi) return;
      words[at + 2] = words[at]!;
      words[at + 3] = words[at + 1]!;
      words[at] = hi;
      words[at + 1] = lo;
    },
    clear: () => void words.fill(0),
  };
}
