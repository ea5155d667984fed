// The results of adding requests, packed: each becomes an object only when read, so that adding a million requests
// costs no more memory than their unique keys.
import { fingerprintOf, fingerprintToId } from '../../request/fingerprint.js';
import type { Presence } from '../frontier.js';

/** What the queue did with a request. */
export interface QueueOperationInfo {
  /** Made from the unique key: the same in every queue. */
  requestId: string;
  /** What makes a request the same as another. */
  uniqueKey: string;
  /** The queue had it before: nothing was added. */
  wasAlreadyPresent: boolean;
  /** The queue had it, and it has ended. */
  wasAlreadyHandled: boolean;
}

export function operationInfo(uniqueKey: string, presence: Presence): QueueOperationInfo {
  return {
    requestId: fingerprintToId(fingerprintOf(uniqueKey)),
    uniqueKey,
    wasAlreadyPresent: presence !== 'new',
    wasAlreadyHandled: presence === 'ended',
  };
}

export interface PackedInfos {
  add(uniqueKeys: readonly string[], presences: readonly Presence[]): void;
  /** An array of all infos added so far. */
  list(): QueueOperationInfo[];
}

interface Batch {
  readonly first: number;
  /** All keys of the batch in one string, and where each ends. */
  readonly keys: string;
  readonly ends: Uint32Array;
  readonly presences: readonly Presence[];
}

export function createPackedInfos(): PackedInfos {
  const batches: Batch[] = [];
  let count = 0;

  function at(index: number): QueueOperationInfo {
    let low = 0;
    for (let high = batches.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1;
      if (batches[middle]!.first <= index) low = middle;
      else high = middle - 1;
    }
    const { first, keys, ends, presences } = batches[low]!;
    const place = index - first;
    return operationInfo(keys.slice(place === 0 ? 0 : ends[place - 1], ends[place]), presences[place]!);
  }

  return {
    add(uniqueKeys, presences) {
      const ends = new Uint32Array(uniqueKeys.length);
      let end = 0;
      uniqueKeys.forEach((key, index) => (ends[index] = end += key.length));
      const isAllNew = presences.every((presence) => presence === 'new');
      const shared = isAllNew ? allNew(presences.length) : [...presences];
      batches.push({ first: count, keys: uniqueKeys.join(''), ends, presences: shared });
      count += uniqueKeys.length;
    },
    list: () => listOf(count, at),
  };
}

let newOnes: readonly Presence[] = [];

/** In most batches all are new: they share one answer. */
function allNew(length: number): readonly Presence[] {
  if (newOnes.length < length) newOnes = new Array<Presence>(length).fill('new');
  return newOnes;
}

/** Reads like an array; its elements are created when read. */
export function listOf<T>(length: number, at: (index: number) => T): T[] {
  const indexOf = (key: string | symbol): number => {
    if (typeof key !== 'string' || !/^(0|[1-9]\d{0,9})$/.test(key)) return -1;
    return Number(key) < length ? Number(key) : -1;
  };
  const target: T[] = [];
  target.length = length;
  return new Proxy(target, {
    get(array, key, receiver) {
      const index = indexOf(key);
      return index < 0 ? Reflect.get(array, key, receiver) : at(index);
    },
    has: (array, key) => indexOf(key) >= 0 || Reflect.has(array, key),
    ownKeys: (array) => [...Array.from({ length }, (_, index) => String(index)), ...Reflect.ownKeys(array)],
    getOwnPropertyDescriptor(array, key) {
      const index = indexOf(key);
      if (index < 0) return Reflect.getOwnPropertyDescriptor(array, key);
      return { value: at(index), writable: true, enumerable: true, configurable: true };
    },
  });
}
