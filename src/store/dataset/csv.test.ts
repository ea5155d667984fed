// CSV rows against a strict reader of RFC 4180.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsOf, csvRow } from './csv.js';

/** Reads rows as the standard says: quotes doubled inside quoted cells, anything else as it is. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length;) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (text[at] === '"' && text[at + 1] !== '"') break;
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else while (text[at] !== ',' && text[at] !== '\n') cell += text[at++];
    row.push(cell);
    if (text[at++] === '\n') [rows[rows.length], row] = [row, []];
  }
  return rows;
}

describe('csvRow', () => {
  it('reads back cell by cell, whatever the text', () => {
    const cell = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', '\t', '=', 'a') }));
    const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(table, (rows) => {
        expect(readCsv(rows.map((row) => csvRow(row, true)).join(''))).toEqual(rows);
      }),
    );
  });

  it('defuses what a spreadsheet would run, and leaves everything else', () => {
    const formula = fc.tuple(
      fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'),
      fc.string(),
    );
    fc.assert(
      fc.property(formula, ([first, rest]) => {
        expect(readCsv(csvRow(['a', first + rest]))).toEqual([['a', `'${first}${rest}`]]);
      }),
    );
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/^[=+\-@\t\r\n]/.test(text)),
        (text) => {
          expect(readCsv(csvRow(['a', text]))).toEqual([['a', text]]);
        },
      ),
    );
    expect(csvRow([-1.5, '=HYPERLINK("http://evil.test")', "'=1"])).toBe(
      `-1.5,"'=HYPERLINK(""http://evil.test"")",'=1\n`,
    );
  });

  it('writes numbers, booleans, nothing and objects as text', () => {
    expect(csvRow([1.5, true, false, null, undefined, { a: [1] }])).toBe('1.5,true,false,,,"{""a"":[1]}"\n');
  });

  it('alters nothing in a raw cell, formulas included', () => {
    expect(csvRow(['=1+1', '@x', '-1'], true)).toBe('=1+1,@x,-1\n');
  });

  it('takes only own fields of an item', () => {
    expect(cellsOf(JSON.parse('{"a":1}'), ['a', 'toString', '__proto__'])).toEqual([1, undefined, undefined]);
  });
});
