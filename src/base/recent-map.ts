// A map that drops its least recently used entries.
// Promise: never more than `maxEntries`, O(1) per operation.

export interface RecentMap<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  readonly size: number;
}

export function createRecentMap<K, V>(maxEntries: number): RecentMap<K, V> {
  // A Map keeps insertion order: the first key is the least recently used.
  const entries = new Map<K, V>();
  const touch = (key: K, value: V) => {
    entries.delete(key);
    entries.set(key, value);
  };
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value !== undefined) touch(key, value);
      return value;
    },
    set: (key, value) => {
      touch(key, value);
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value as K);
    },
    delete: (key) => void entries.delete(key),
    get size() {
      return entries.size;
    },
  };
}
