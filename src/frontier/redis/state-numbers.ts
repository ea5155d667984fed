// The numbers that the scripts pack into one string (lua/part-frame.lua), read without a script.
// Promise: a number that is newer than the store is 0.

/** In the order of the Lua: doubles, little-endian. New ones go to the end. */
export const STATE_NUMBERS = [
  ...(['accepted', 'queued', 'retrying', 'leased', 'done', 'failed', 'skipped', 'number', 'front', 'tie'] as const),
  ...(['lease', 'holder', 'now', 'wall', 'seq', 'quiet', 'began', 'restored', 'seen', 'buckets'] as const),
  ...(['far', 'overflow', 'spilled', 'parsing', 'parsebytes', 'outbox', 'allowance', 'epoch', 'offered'] as const),
  ...(['dropped', 'suspects', 'beganbefore', 'lostworkers'] as const),
] as const;

export type StateNumber = (typeof STATE_NUMBERS)[number];

/** @param packed the field `numbers` of the key `state`; null where there is no store. */
export function unpackStateNumbers(packed: Buffer | null): Readonly<Record<StateNumber, number>> {
  const numbers = {} as Record<StateNumber, number>;
  STATE_NUMBERS.forEach((name, i) => {
    const isThere = packed !== null && packed.length >= (i + 1) * 8;
    numbers[name] = isThere ? packed.readDoubleLE(i * 8) : 0;
  });
  return numbers;
}
