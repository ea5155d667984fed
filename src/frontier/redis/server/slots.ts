// The hash slots of a Redis Cluster, and the pods' places in them.
// Promise: all keys of a pod are in one slot, so its scripts stay atomic; pods are spread evenly over the slots.

export const SLOTS = 16_384;
/** CRC-16/XMODEM, which the cluster's specification names. */
const POLYNOMIAL = 0x1021;
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1) & 0xffff;
  return crc;
});

/** The slot of a key: of the text in its first braces, or of all of it. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return crc16(close > open + 1 ? key.slice(open + 1, close) : key) % SLOTS;
}

function crc16(text: string, before = 0): number {
  let crc = before;
  for (const byte of Buffer.from(text)) crc = ((crc << 8) ^ TABLE[(crc >> 8) ^ byte]!) & 0xffff;
  return crc;
}

/**
 * The prefix of a pod's keys in a store that it shares with other pods. Clusters give each master a row of slots: pod N
 * of M gets a slot in the middle of the Nth of M equal rows, so masters with as many slots have as many pods.
 */
export function podPrefix(name: string, index: number, count: number): string {
  const middle = ((index + 0.5) * SLOTS) / count;
  const start = `${name}:${index}.`;
  const known = crc16(start);
  for (let attempt = 0; ; attempt++) {
    const slot = crc16(String(attempt), known) % SLOTS;
    if (Math.abs(slot - middle) <= SLOTS / count / 4) return `{${start}${attempt}}:`;
  }
}
