// The Encoding standard's labels and decoders: Node's where they follow the standard, ours where they do not.
// Promise: nothing here throws. Checked on Node 20.20 and ICU 78: windows-1252 (Node decodes it as Latin-1), EUC-KR
// (ICU lacks the 8,822 syllables of its extension), GBK, ISO-8859-16, x-user-defined and `replacement` need us.
import { limitReached, LIMITS } from '../../limits.js';
import { isUhcExtension, decodeEucKr } from './euc-kr.js';
import { windows1252 } from './windows-1252.js';

/** Labels that end in the `replacement` decoder: encodings that were used to smuggle markup past filters. */
const REPLACEMENT_LABELS = new Set(
  'replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr'.split(' '),
);
/** The longest label of the standard has 19 characters. */
const MAX_LABEL_LENGTH = LIMITS.encodingLabelCharacters.max;
const SPACES = '\t\n\f\r ';

const known = new Map<string, string>();

/** The encoding a label names, in lower case, or `null`. */
export function encodingForLabel(label: string | null | undefined): string | null {
  if (label == null) return null;
  let from = 0;
  let to = label.length;
  while (from < to && SPACES.includes(label[from]!)) from++;
  while (to > from && SPACES.includes(label[to - 1]!)) to--;
  if (from === to) return null;
  if (to - from > MAX_LABEL_LENGTH) {
    limitReached('encodingLabelCharacters');
    return null;
  }
  const key = label.slice(from, to).toLowerCase();
  if (REPLACEMENT_LABELS.has(key)) return 'replacement';
  if (key === 'x-user-defined' || key === 'iso-8859-16') return key;
  let name = known.get(key);
  if (name === undefined) {
    try {
      name = new TextDecoder(key).encoding;
    } catch {
      return null;
    }
    known.set(key, name);
  }
  return name;
}

/** Decodes bytes without a BOM; `name` comes from {@link encodingForLabel}. */
export function decodeLegacy(bytes: Buffer, name: string): string {
  switch (name) {
    case 'windows-1252':
      return decodeSingleByte(bytes, windows1252);
    case 'iso-8859-16':
      return decodeSingleByte(bytes, iso885916);
    case 'x-user-defined':
      return decodeSingleByte(bytes, (byte) => 0xf700 + byte);
    case 'replacement':
      return bytes.length === 0 ? '' : '\ufffd';
    case 'euc-kr':
      return isUhcExtension(bytes) ? decodeEucKr(bytes) : new TextDecoder('euc-kr').decode(bytes);
    case 'gbk':
      // The standard gives both names the gb18030 decoder; Node's own GBK lacks four-byte characters.
      return new TextDecoder('gb18030').decode(bytes);
    default:
      return new TextDecoder(name, { ignoreBOM: true }).decode(bytes);
  }
}

function decodeSingleByte(bytes: Buffer, upper: (byte: number) => number): string {
  const table = Uint16Array.from({ length: 256 }, (_, byte) => (byte < 0x80 ? byte : upper(byte)));
  const units = new Uint16Array(bytes.length);
  for (let k = 0; k < bytes.length; k++) units[k] = table[bytes[k]!]!;
  return new TextDecoder('utf-16le', { ignoreBOM: true }).decode(units);
}

/** ISO-8859-16 where it differs from Latin-1: byte, then character. */
const ISO_8859_16_CHANGES =
  'a1Ą a2ą a3Ł a4€ a5„ a6Š a8š aaȘ acŹ aeź afŻ b2Č b3ł b4Ž b5” b8ž b9č baș bcŒ bdœ beŸ bfż c3Ă c5Ć d0Đ d1Ń d5Ő d7Ś ' +
  'd8Ű ddĘ deȚ e3ă e5ć f0đ f1ń f5ő f7ś f8ű fdę feț';
const iso885916Changes = new Map(
  ISO_8859_16_CHANGES.split(' ').map((entry) => [Number.parseInt(entry, 16) & 0xff, entry.charCodeAt(2)]),
);

function iso885916(byte: number): number {
  return iso885916Changes.get(byte) ?? byte;
}
