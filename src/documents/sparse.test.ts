// Documents that are small and mean much: sheets with few cells far apart, cells that share a long text, drawings beyond
// every page.
import { describe, expect, it } from 'vitest';
import { OPERATIONS, operationsOf } from '../../test/growth/drawings.js';
import { zip } from '../../test/support/zip.js';
import { LIMITS, limitsReached } from '../limits.js';
import { readOdf } from './formats/odf.js';
import { readXlsx } from './formats/xlsx.js';
import { interpretPage } from './pdf/interpret.js';
import { readPageLines } from './pdf/layout.js';

const relation = (id: string, type: string, to: string) => `<Relationship Id="${id}" Type="x/${type}" Target="${to}"/>`;
const sheet = (rows: string, strings = '') =>
  readXlsx(
    zip({
      'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="a"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': `<Relationships>${relation('a', 'worksheet', 's.xml')}${relation('b', 'sharedStrings', 't.xml')}</Relationships>`,
      'xl/s.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
      'xl/t.xml': `<sst>${strings}</sst>`,
    }),
  ).body;
const cellsOf = (html: string) => html.split(/<t[dh]\b/).length - 1;

describe('a sparse sheet', () => {
  it('of XLSX has its cells where they are, and blanks in proportion to them', () => {
    const row = (at: number) => `<row r="${at}"><c r="GR${at}" t="str"><v>x${at}</v></c></row>`;
    const small = sheet(row(1) + row(2));
    expect(cellsOf(small)).toBe(400);
    const reached = limitsReached('tablePlaces');
    const large = sheet(Array.from({ length: 20_000 }, (_, at) => row(at + 1)).join(''));
    expect(large).toContain('<td colspan="100"></td><td>x20000</td>');
    expect(cellsOf(large)).toBeLessThan(20_000 + 12 * 20_000);
    expect(limitsReached('tablePlaces')).toBe(reached + 1);
  });

  it('of ODS repeats blanks in proportion to its cells', () => {
    const row =
      '<table:table-row><table:table-cell table:number-columns-repeated="199"/><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>';
    const { body } = readOdf(
      zip({
        'content.xml': `<office:document-content><office:body><office:spreadsheet><table:table table:name="a">${row.repeat(10_000)}</table:table></office:spreadsheet></office:body></office:document-content>`,
      }),
    );
    expect(body.split('x').length).toBeGreaterThan(10_000);
    expect(cellsOf(body)).toBeLessThan(20_000 * 10);
  });
});

it('cells that share one long text say no more than a document may', () => {
  const text = 'word '.repeat(200_000);
  const cells = '<row><c t="s"><v>0</v></c></row>'.repeat(2_000);
  const before = process.memoryUsage().rss;
  expect(sheet(cells, `<si><t>${text}</t></si>`).length).toBeLessThanOrEqual(LIMITS.documentCharacters.max);
  expect(process.memoryUsage().rss - before).toBeLessThan(600_000_000);
});

it('what a PDF draws and links beyond any page is not looked at, and takes no time', { timeout: 20_000 }, () => {
  const page = operationsOf('');
  const far = [7.3e16, 1e17, 1e20, -1e300, Infinity, NaN];
  const links = far.map((y) => ({ box: [0, y, 100, y + 1e17], href: 'https://example.com/' }));
  const show = (x: number, y: number): [number[], unknown[][]] => [
    [OPERATIONS.setFont!, OPERATIONS.setTextMatrix!, OPERATIONS.showText!],
    [['f', 12], [[1, 0, 0, 1, x, y]], [[{ unicode: 'a', width: 500 }]]],
  ];
  const drawn = [...far.flatMap((one) => [show(one, 10), show(10, one)]), show(10, 10)];
  const drawing = interpretPage(
    {
      ...page,
      links,
      operations: drawn.flatMap(([operations]) => operations),
      values: drawn.flatMap(([, values]) => values),
    },
    OPERATIONS,
  );
  expect(drawing.words).toHaveLength(1);
  expect(readPageLines(drawing).lines).toHaveLength(1);
});
