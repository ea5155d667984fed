// Any bytes are a page: no throw, valid Unicode out, and the same answer for the same bytes however they are held.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanPage } from './scan.js';

const url = 'https://example.com/dir/page';

function isValidUnicode(value: string): boolean {
  return Buffer.from(value).toString() === value;
}

/** Every string of the result. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...stringsOf(inner)]);
}

const fragment = fc.constantFrom(
  ...[
    '<a href=x>',
    '</a>',
    '<a href="',
    '"',
    "'",
    '>',
    '<',
    '</',
    '<!--',
    '-->',
    '--!>',
    '<![CDATA[',
    ']]>',
    '<?x',
    '&',
    '&amp',
    ';',
  ],
  ...[
    '<svg>',
    '</svg>',
    '<math><mi>',
    '<foreignObject>',
    '</foreignObject>',
    '<title>',
    '</title>',
    '<desc>',
    '<template>',
    '</template>',
  ],
  ...[
    '<script>',
    '</script>',
    '<script type=application/ld+json>',
    '["\\ud800"]',
    '<noscript>',
    '</noscript>',
    '<textarea>',
    '<xmp>',
  ],
  ...[
    '<table>',
    '<td>',
    '</table>',
    '<object>',
    '</object>',
    '<pre>',
    '\n',
    '</pre>',
    '<p>',
    '</p>',
    '<br>',
    '</br>',
    '<frameset>',
  ],
  ...[
    '<base href=/b/>',
    '<meta charset=shift_jis>',
    '<meta name=robots content=',
    '<link rel=canonical href=',
    '<html lang=',
    '<form action=f>',
  ],
  ...[
    'text',
    ' ',
    '\0',
    'é',
    '日本',
    '😀',
    '\ud800',
    '&#xD800;',
    '&#1114112;',
    '&notin;',
    '<plaintext>',
    '<img src=i>',
    '<iframe src=',
    '=',
    '/',
  ],
);
const markup = fc.array(fragment, { maxLength: 40 }).map((parts) => Buffer.from(parts.join('')));
const anyBytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array));
const contentType = fc.constantFrom(
  ...['utf-8', 'utf-16le', 'shift_jis', 'iso-2022-jp', 'gb18030', 'euc-kr', 'windows-1252', 'nonsense'].map(
    (charset) => `text/html; charset=${charset}`,
  ),
  undefined,
);

describe('scanPage on any input', () => {
  it('does not throw and gives valid Unicode', () => {
    fc.assert(
      fc.property(fc.oneof(markup, anyBytes), contentType, (body, type) => {
        const page = scanPage(body, { url, contentType: type, images: true });
        const copy = JSON.parse(JSON.stringify(page)) as unknown;
        expect(stringsOf(copy).every(isValidUnicode)).toBe(true);
        expect(page.links.every((link) => URL.canParse(link.url))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('answers the same for a view into a larger buffer and for a plain Uint8Array', () => {
    fc.assert(
      fc.property(markup, (body) => {
        const larger = Buffer.concat([Buffer.from('<a href="'), body, Buffer.from('"></a><p>')]);
        const view = larger.subarray(9, 9 + body.length);
        const expected = JSON.stringify(scanPage(body, { url }));
        expect(JSON.stringify(scanPage(view, { url }))).toBe(expected);
        expect(JSON.stringify(scanPage(new Uint8Array(body), { url }))).toBe(expected);
      }),
    );
  });
});
