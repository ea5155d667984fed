// The encoder of legacy charsets is the decoder turned round; decoding must give the text back.
import { describe, expect, it } from 'vitest';
import { encodeText, sampleFor } from './charsets.js';

describe('legacy encodings of the synthetic web', () => {
  it.each([
    ...['windows-1251', 'koi8-r', 'windows-1252', 'iso-8859-2', 'windows-1253', 'windows-1255', 'shift_jis', 'euc-jp'],
    ...['iso-2022-jp', 'gbk', 'gb18030', 'big5', 'euc-kr', 'utf-8', 'utf-16le', 'utf-16be'],
  ])('%s is decoded back to its sample', (label) => {
    const text = `<p>${sampleFor(label)}</p>`;
    const bytes = encodeText(text, label);
    expect(new TextDecoder(label).decode(bytes)).toBe(text);
    if (label !== 'utf-8') expect(bytes.equals(Buffer.from(text))).toBe(false);
  });

  it('sends unknown labels as UTF-8', () => {
    expect(encodeText('Café', 'klingon').toString('utf8')).toBe('Café');
  });
});
