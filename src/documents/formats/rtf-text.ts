// The characters of an RTF file: bytes of a code page, of a font's own code page, and Unicode.
// Promise: bytes of characters that take two are decoded together.

/** Code pages by the character set of a font. */
const CHARSET_PAGES: Readonly<Record<number, string>> = {
  0: 'windows-1252',
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gbk',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
};

const PAGES: Readonly<Record<number, string>> = {
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10_000: 'macintosh',
  65_001: 'utf-8',
};

export class RtfText {
  #page = 'windows-1252';
  #font = 0;
  readonly #fontPages = new Map<number, string>();
  readonly #decoders = new Map<string, InstanceType<typeof TextDecoder>>();
  #bytes: number[] = [];

  setPage(page: number): void {
    this.#page = PAGES[page] ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : 'windows-1252');
  }

  /** The font of what follows, or the one that the table of fonts is about to describe. */
  useFont(font: number): void {
    this.#font = font;
  }

  setFontCharset(charset: number): void {
    const page = CHARSET_PAGES[charset];
    if (page !== undefined && charset !== 0 && this.#fontPages.size < 10_000) this.#fontPages.set(this.#font, page);
  }

  /** Keeps a byte; gives what is complete, which is nothing yet. */
  byte(code: number): string {
    this.#bytes.push(code);
    return '';
  }

  /** Text, after the bytes that came before it. */
  plain(text: string): string {
    return this.flush() + text;
  }

  flush(): string {
    if (this.#bytes.length === 0) return '';
    const page = this.#fontPages.get(this.#font) ?? this.#page;
    let decoder = this.#decoders.get(page);
    if (!decoder) this.#decoders.set(page, (decoder = new TextDecoder(page)));
    const text = decoder.decode(Uint8Array.from(this.#bytes));
    this.#bytes = [];
    return text;
  }
}
