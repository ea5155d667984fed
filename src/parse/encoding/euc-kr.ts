// EUC-KR as the Encoding standard and Korean pages mean it: with the 8,822 syllables that ICU's converter lacks.
// The extension lists, in Unicode order, the syllables missing from the base set, so the table is computed, not stored.

/** Leads 0x81–0xC6; a trail is a letter or a high byte, and below 0xA1 when the lead belongs to the base set. */
const LAST_EXTENDED_LEAD = 0xc6;
const FIRST_BASE = 0xa1;
const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;

let extension: Uint16Array | undefined;

function trailsOf(lead: number): number[] {
  const trails: number[] = [];
  const last = lead < FIRST_BASE ? 0xfe : 0xa0;
  for (let trail = 0x41; trail <= last; trail++) {
    if (trail <= 0x5a || (trail >= 0x61 && trail <= 0x7a) || trail >= 0x81) trails.push(trail);
  }
  return trails;
}

/** Code point by `lead << 8 | trail`; 0 where the extension has nothing. */
function buildExtension(): Uint16Array {
  const base = new Set<number>();
  const decoder = new TextDecoder('euc-kr');
  for (let lead = 0xb0; lead <= 0xc8; lead++) {
    for (let trail = FIRST_BASE; trail <= 0xfe; trail++)
      base.add(decoder.decode(Uint8Array.of(lead, trail)).charCodeAt(0));
  }
  const table = new Uint16Array(0x10000);
  let syllable = FIRST_SYLLABLE;
  for (let lead = 0x81; lead <= LAST_EXTENDED_LEAD; lead++) {
    for (const trail of trailsOf(lead)) {
      while (base.has(syllable)) syllable++;
      if (syllable > LAST_SYLLABLE) return table;
      table[(lead << 8) | trail] = syllable++;
    }
  }
  return table;
}

/** True when any two-byte character of the text lies outside the base set. */
export function isUhcExtension(bytes: Uint8Array): boolean {
  for (let i = 0; i + 1 < bytes.length; i++) {
    const lead = bytes[i]!;
    if (lead < 0x81) continue;
    if (lead < FIRST_BASE || bytes[i + 1]! < FIRST_BASE) return true;
    i++;
  }
  return false;
}

/** Decodes text that uses the extension: the runs between its characters go to the platform's decoder. */
export function decodeEucKr(bytes: Uint8Array): string {
  extension ??= buildExtension();
  const decoder = new TextDecoder('euc-kr');
  const parts: string[] = [];
  let plainFrom = 0;
  let i = 0;
  while (i < bytes.length) {
    const lead = bytes[i]!;
    if (lead < 0x81 || i + 1 >= bytes.length) {
      i++;
      continue;
    }
    const trail = bytes[i + 1]!;
    const syllable = extension[(lead << 8) | trail]!;
    if (syllable !== 0) {
      if (plainFrom < i) parts.push(decoder.decode(bytes.subarray(plainFrom, i)));
      parts.push(String.fromCharCode(syllable));
      i += 2;
      plainFrom = i;
    } else {
      // An ASCII trail of an invalid pair is read again, as the standard asks.
      i += trail < 0x80 ? 1 : 2;
    }
  }
  if (plainFrom < bytes.length) parts.push(decoder.decode(bytes.subarray(plainFrom)));
  return parts.join('');
}
