// Runs the published html5lib encoding cases over encoding detection.
// One deliberate difference: a page that declares nothing and is valid UTF-8 is UTF-8, where the cases say windows-1252.
import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { detectEncoding } from '../../src/parse/encoding/encoding.js';
import { encodingForLabel } from '../../src/parse/encoding/labels.js';
import { DATA } from './parse5-view.js';

const FOLDER = new URL('html5lib-encoding/', DATA);
const present = existsSync(FOLDER);

function readCases(file: string): { data: Buffer; encoding: string }[] {
  const text = readFileSync(new URL(file, FOLDER)).toString('latin1');
  return text
    .split(/^#data\n/m)
    .slice(1)
    .map((part) => {
      const [data, encoding] = part.split('\n#encoding\n');
      return { data: Buffer.from(data!, 'latin1'), encoding: encoding!.trim().toLowerCase() };
    });
}

describe.skipIf(!present)(`html5lib encoding cases${present ? '' : ' (skipped: ../shared/data is not here)'}`, () => {
  for (const file of ['tests1.dat', 'tests2.dat', 'test-yahoo-jp.dat']) {
    it(`finds the encoding of every page in ${file}`, () => {
      const cases = present ? readCases(file) : [];
      const wrong: unknown[] = [];
      for (const { data, encoding } of cases) {
        const found = detectEncoding(data);
        if (found.name === encodingForLabel(encoding)) continue;
        const undeclaredUtf8 = encoding === 'windows-1252' && found.source === 'content' && isUtf8(data);
        if (!undeclaredUtf8) wrong.push({ data: data.toString('latin1'), encoding, found });
      }
      expect(cases.length).toBeGreaterThan(0);
      expect(wrong).toEqual([]);
    });
  }
});
