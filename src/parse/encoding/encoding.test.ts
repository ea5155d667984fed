// Detection order and decoding; the published cases run in test/conformance/encoding.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, detectEncoding } from './encoding.js';
import { encodingForLabel } from './labels.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('detectEncoding', () => {
  it('believes a BOM before the header, the header before meta, meta before the bytes', () => {
    const meta = '<meta charset=koi8-r>';
    expect(detectEncoding(bytes(`\xef\xbb\xbf${meta}`), 'text/html; charset=big5')).toEqual({
      name: 'utf-8',
      source: 'bom',
      bomBytes: 3,
    });
    expect(detectEncoding(bytes(meta), 'text/html; charset="Big5"')).toMatchObject({ name: 'big5', source: 'header' });
    expect(detectEncoding(bytes(meta), 'text/html; charset=nonsense')).toMatchObject({
      name: 'koi8-r',
      source: 'meta',
    });
    expect(detectEncoding(bytes('caf\xc3\xa9'))).toMatchObject({ name: 'utf-8', source: 'content' });
    expect(detectEncoding(bytes('caf\xe9 au lait'))).toMatchObject({ name: 'windows-1252', source: 'default' });
  });

  it('finds a meta beyond the first kilobyte', () => {
    expect(detectEncoding(bytes(`${' '.repeat(3000)}<meta charset=euc-jp>\xe9`)).name).toBe('euc-jp');
  });

  it('does not look for meta in JSON or plain text', () => {
    expect(detectEncoding(bytes('"<meta charset=big5>"'), 'application/json').name).toBe('utf-8');
    expect(detectEncoding(bytes('<meta charset=big5>'), 'text/plain').name).toBe('utf-8');
  });

  it('takes a body cut in the middle of a character for UTF-8', () => {
    expect(detectEncoding(bytes('caf\xc3\xa9 \xe2\x82')).name).toBe('utf-8');
  });
});

describe('decodeBody', () => {
  it('drops the BOM and decodes by name or by what was detected', () => {
    expect(decodeBody(bytes('\xef\xbb\xbfa\xc3\xa9'), 'utf-8')).toBe('aé');
    expect(decodeBody(Buffer.from('\ufeffé', 'utf16le'), 'utf-16')).toBe('é');
    expect(decodeBody(bytes('\x80'), detectEncoding(bytes('\x80')))).toBe('€');
  });

  it('treats an unknown label as none', () => {
    expect(decodeBody(bytes('\xc3\xa9'), 'klingon')).toBe('é');
    expect(decodeBody(bytes('\xe9\x80'), 'klingon')).toBe('é€');
  });

  it('gives valid Unicode for any bytes under any label', () => {
    const labels = 'utf-8 utf-16le utf-16be windows-1252 shift_jis gbk gb18030 big5 euc-kr euc-jp iso-2022-jp koi8-r '
      .concat('iso-8859-16 x-user-defined replacement ibm866 macintosh nonsense')
      .split(' ');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...labels), (body, label) => {
        const text = decodeBody(body, label);
        expect(Buffer.from(text).toString()).toBe(text);
      }),
    );
  });

  it('decodes all 11,172 Korean syllables of EUC-KR', () => {
    // The extension's first and last characters and one in the middle, from the Encoding standard's index.
    expect(decodeBody(Buffer.from([0x81, 0x41, 0xa0, 0xfe, 0xc6, 0x52, 0x41]), 'euc-kr')).toBe('갂좤힣A');
  });
});

describe('labels', () => {
  it('knows aliases in any case and never throws', () => {
    expect(
      ['Latin1', ' UTF8 ', 'x-sjis', 'ks_c_5601-1987', 'hz-gb-2312', '', 'x'.repeat(99)].map(encodingForLabel),
    ).toEqual(['windows-1252', 'utf-8', 'shift_jis', 'euc-kr', 'replacement', null, null]);
  });
});
