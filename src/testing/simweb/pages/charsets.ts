// Pages in legacy encodings for `/_/charset/LABEL`. Node decodes them all but encodes none, so the encoder is
// the decoder turned round: every one- and two-byte sequence is decoded once and the table read backwards.

import { TextDecoder } from 'node:util';

const SAMPLES: readonly [pattern: RegExp, text: string][] = [
  [/1251|koi8|866|cyrillic|iso-8859-5/, 'Привет, мир. Добрый вечер.'],
  [/jis|jp/, '日本語の文章です。東京は大きい。'],
  [/gb|936/, '简体中文网页。你好世界。'],
  [/big5/, '繁體中文網頁。你好世界。'],
  [/kr|949/, '한국어 문서입니다.'],
  [/1253|8859-7/, 'Καλημέρα κόσμε'],
  [/1255|8859-8/, 'שלום עולם'],
  [/1256|8859-6/, 'مرحبا بالعالم'],
  [/874|tis|8859-11/, 'สวัสดีชาวโลก'],
  [/1250|8859-2/, 'Žluťoučký kůň'],
  [/1254|8859-9/, 'Günaydın dünya, şeker'],
];
const WESTERN = 'Café, naïve, Größe: déjà vu';

/** The text that a page in this encoding contains. */
export function sampleFor(label: string): string {
  return SAMPLES.find(([pattern]) => pattern.test(label.toLowerCase()))?.[1] ?? WESTERN;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

const tables = new Map<string, Map<string, number[]>>();

function encodingTable(decoder: TextDecoder): Map<string, number[]> {
  const known = tables.get(decoder.encoding);
  if (known) return known;
  const table = new Map<string, number[]>();
  const learn = (bytes: number[]): void => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes);
  };
  for (let byte = 0; byte < 256; byte++) learn([byte]);
  for (let lead = 0x81; lead < 256; lead++) for (let trail = 0x40; trail < 256; trail++) learn([lead, trail]);
  tables.set(decoder.encoding, table);
  return table;
}

function viaTable(text: string, decoder: TextDecoder): Buffer {
  const table = encodingTable(decoder);
  return Buffer.from([...text].flatMap((char) => table.get(char) ?? [0x3f]));
}

/** ISO-2022-JP is EUC-JP with the high bits off, each run of it between escape sequences. */
function asIso2022Jp(text: string): Buffer {
  const eucJp = new TextDecoder('euc-jp');
  // Runs, not letters: two escape sequences with nothing between them are an error to a decoder.
  const runs = text.match(/[\0-\x7f]+|[^\0-\x7f]+/g) ?? [];
  const pieces = runs.map((run) => {
    const bytes = viaTable(run, eucJp);
    if (run.charCodeAt(0) < 0x80) return bytes;
    return Buffer.concat([Buffer.from('\x1b$B'), bytes.map((byte) => byte & 0x7f), Buffer.from('\x1b(B')]);
  });
  return Buffer.concat(pieces);
}

/** The text's bytes in this encoding; characters that it lacks become "?", unknown labels give UTF-8. */
export function encodeText(text: string, label: string): Buffer {
  const decoder = decoderFor(label);
  switch (decoder?.encoding) {
    case undefined:
    case 'utf-8':
      return Buffer.from(text, 'utf8');
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    case 'iso-2022-jp':
      return asIso2022Jp(text);
    default:
      return viaTable(text, decoder as TextDecoder);
  }
}
