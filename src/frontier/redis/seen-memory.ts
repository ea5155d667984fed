// How a Redis frontier stores accepted URLs: chosen when the store is created, fixed from then on.
// The numbers are arguments of lua/part-seen.lua.
import { CrawlError } from '../../errors.js';

/**
 * `requests`: with state and record, so that each can be found (library queues). `exact`: 64-bit fingerprints,
 * about 10 bytes each. `bloom`: a filter sized for `capacity` over all pods, which mistakes some new URLs for known.
 */
export type SeenMemory =
  | { readonly kind: 'requests' }
  | { readonly kind: 'exact' }
  | { readonly kind: 'bloom'; readonly capacity: number; readonly errorRate?: number };

export interface SeenNumbers {
  readonly letter: 'r' | 'e' | 'b';
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** The text in `pod:info`. */
  readonly text: string;
}

const DEFAULT_ERROR_RATE = 0.001;
/** 4 MB with room for the string's header: one byte more and the allocator takes 5 MB. */
const SLICE_BITS = (4 * 1024 * 1024 - 64) * 8;
/** Factor over the theoretical size: slices fill unevenly, and ten positions from 64 bits are not quite independent. */
const BLOOM_MARGIN = 1.06;

export function seenNumbers(memory: SeenMemory, pods: number, maxIntsetEntries: number): SeenNumbers {
  switch (memory.kind) {
    case 'requests':
      return { letter: 'r', a: 0, b: 0, c: 0, text: 'requests' };
    case 'exact':
      return { letter: 'e', a: bucketLoad(maxIntsetEntries), b: 0, c: 0, text: 'exact' };
    case 'bloom':
      return bloomNumbers(memory.capacity, memory.errorRate ?? DEFAULT_ERROR_RATE, pods);
    default:
      return memory satisfies never;
  }
}

/** Bytes that the filters of one pod take once they are full. Redis takes them slice by slice, as URLs arrive. */
export function bloomBytesPerPod(capacity: number, errorRate: number, pods: number): number {
  const { a: slices, b: sliceBits } = bloomNumbers(capacity, errorRate, pods);
  return slices * (sliceBits / 8 + 64);
}

/**
 * The average entries per bucket. Just before it splits, a bucket has about twice as many; six standard deviations
 * more must still fit: then over a billion URLs no bucket outgrows the packed form.
 */
function bucketLoad(maxIntsetEntries: number): number {
  return Math.max(4, Math.floor((maxIntsetEntries - 6 * Math.sqrt(maxIntsetEntries)) / 2));
}

function bloomNumbers(capacity: number, errorRate: number, pods: number): SeenNumbers {
  if (!(capacity >= 1) || !(errorRate > 0 && errorRate < 0.5)) {
    throw new CrawlError('OPTION_INVALID', 'a Bloom filter needs a capacity of at least 1 and an error rate below 0.5');
  }
  const hashes = Math.max(1, Math.round(-Math.log2(errorRate)));
  const bits = Math.ceil((capacity / pods) * (-Math.log(errorRate) / Math.LN2 ** 2) * BLOOM_MARGIN);
  const slices = Math.ceil(bits / SLICE_BITS);
  // Whole bytes, and all slices the same.
  const sliceBits = Math.max(1_024, Math.ceil(bits / slices / 8) * 8);
  return {
    letter: 'b',
    a: slices,
    b: sliceBits,
    c: hashes,
    text: `bloom ${slices} x ${sliceBits} bits, ${hashes} each`,
  };
}
