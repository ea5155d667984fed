import { describe, expect, it } from 'vitest';
import { docxFile, epubFile, odtFile, pptxFile, RTF, xlsxFile } from '../../test/support/office-files.js';
import { zip } from '../../test/support/zip.js';
import { toMarkdown } from '../crawl/page/extraction.js';
import { limitsReached } from '../limits.js';
import { convertDocument } from './convert.js';
import { documentFormatOf, type DocumentFormat } from './format.js';
import { DocumentFailure } from './model.js';

async function markdownOf(file: Buffer | string, format: DocumentFormat, hint = {}): Promise<string> {
  const { raw } = toMarkdown((await convertDocument(Buffer.from(file as string), format, hint)).html);
  // How raised numbers and brackets are written is the business of markdown.
  return raw.replace(/<\/?sup>|[\\^]/g, '').replaceAll('|  |', '| |');
}

async function factsOf(file: Buffer | string, format: DocumentFormat) {
  return (await convertDocument(Buffer.from(file as string), format, {})).facts;
}

async function codeOf(file: Buffer | string, format: DocumentFormat): Promise<string> {
  try {
    await convertDocument(Buffer.from(file as string), format, {});
    return 'none';
  } catch (error) {
    return error instanceof DocumentFailure ? error.code : `not a failure: ${String(error)}`;
  }
}

describe('documents as markdown', () => {
  it('DOCX: styles, lists in lists, links, tables, notes; nothing that was deleted', async () => {
    expect(await markdownOf(docxFile(), 'docx')).toBe(
      [
        '# Orcas of the North',
        '# Families',
        'They speak **dialects**, see [the list](https://example.com/pods).[1]',
        '- Residents\n  - Salmon\n- Transients',
        '1. First\n2. Second',
        '| Pod | Members |\n| --- | --- |\n| J | 25 |\n| All together | |',
        'The end.',
        '[1] A note.',
      ].join('\n\n'),
    );
    expect(await factsOf(docxFile(), 'docx')).toMatchObject({
      format: 'docx',
      title: 'Orcas of the North',
      author: 'A. Whale',
      createdAt: '2026-01-02T03:04:05Z',
    });
  });

  it('ODT: the same', async () => {
    expect(await markdownOf(odtFile(), 'odt')).toBe(
      [
        '# Orcas of the North',
        '# Families',
        'They speak **dialects**, see [the list](https://example.com/pods).[1]',
        '1. Residents\n   - Salmon\n2. Transients',
        '| Pod | Members |\n| --- | --- |\n| J | 25 |',
        'The end.',
        '[1] A note.',
      ].join('\n\n'),
    );
    expect(await factsOf(odtFile(), 'odt')).toMatchObject({ author: 'A. Whale', pages: 3 });
  });

  it('ODS: a million empty rows and columns cost nothing', async () => {
    const sheet =
      '<table:table table:name="Pods"><table:table-row><table:table-cell><text:p>Pod</text:p></table:table-cell><table:table-cell><text:p>Members</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16383"/></table:table-row>' +
      '<table:table-row><table:table-cell><text:p>J</text:p></table:table-cell><table:table-cell><text:p>25</text:p></table:table-cell></table:table-row>' +
      '<table:table-row table:number-rows-repeated="1048574"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>';
    expect(await markdownOf(odtFile(sheet, 'spreadsheet'), 'ods')).toBe(
      '## Pods\n\n| Pod | Members |\n| --- | --- |\n| J | 25 |',
    );
  });

  it('XLSX: visible sheets as tables, dates as dates, numbers as people see them', async () => {
    expect(await markdownOf(xlsxFile(), 'xlsx')).toBe(
      '## Pods\n\n| Pod | Counted | Share |\n| --- | --- | --- |\n| [J pod](https://example.com/j) | 2025-12-09 | 0.3 |',
    );
    expect(await factsOf(xlsxFile(), 'xlsx')).toMatchObject({ pages: 1 });
  });

  it('PPTX: slides in the order of the show, titles first, without hidden ones and numbers', async () => {
    expect(await markdownOf(pptxFile(), 'pptx')).toBe(
      '## Orcas of the North\n\n## Families\n\n- Residents\n- Transients\n\n| Pod | Members |\n| --- | --- |\n| J | 25 |',
    );
    expect(await factsOf(pptxFile(), 'pptx')).toMatchObject({ pages: 2, title: 'Orcas of the North' });
  });

  it('EPUB: chapters in the order of the spine; no scripts, no links into the book', async () => {
    expect(await markdownOf(epubFile(), 'epub')).toBe(
      '# Families\n\nThey *speak*, see [the list](https://example.com/pods) and the next.\n\n# Hunting\n\n- Seals',
    );
    const { html } = await convertDocument(epubFile(), 'epub', {});
    expect(html).not.toMatch(/alert|onclick|<style/);
  });

  it('RTF: code pages, Unicode, fields, lists, tables', async () => {
    expect(await markdownOf(RTF, 'rtf')).toBe(
      [
        '# Families',
        'They speak **dialects**, café —dash, Пр, see [the list](https://example.com/pods).',
        '- Residents\n- Transients',
        '| Pod | Members |\n| --- | --- |\n| J | 25 |',
        'The end.',
      ].join('\n\n'),
    );
    expect(await factsOf(RTF, 'rtf')).toMatchObject({ title: 'Orcas of the North', author: 'A. Whale' });
  });

  it('CSV: quotes, line breaks in cells, other delimiters', async () => {
    expect(await markdownOf('Pod,Say\r\nJ,"a ""b"", c\nd"\r\nK,https://example.com/k', 'csv')).toBe(
      '| Pod | Say |\n| --- | --- |\n| J | a "b", c d |\n| K | [https://example.com/k](https://example.com/k) |',
    );
    expect(await markdownOf('a;b\n1,5;2', 'csv')).toBe('| a | b |\n| --- | --- |\n| 1,5 | 2 |');
    expect(await markdownOf('a\tb\n1\t', 'csv')).toBe('| a | b |\n| --- | --- |\n| 1 | |');
  });

  it('plain text: paragraphs, lists, listings, links', async () => {
    const text =
      'A paragraph that is long enough to be wrapped\nby its program, see https://example.com/a.\n\n- one\n- two\n\n    x = 1\n    y = 2\n';
    expect(await markdownOf(text, 'text')).toBe(
      'A paragraph that is long enough to be wrapped by its program, see [https://example.com/a](https://example.com/a).\n\n- one\n- two\n\n```\n    x = 1\n    y = 2\n```',
    );
  });

  it('JSON: indented, and a feed as a feed', async () => {
    expect(await markdownOf('{"title":"T","a":[1]}', 'json')).toBe(
      '```json\n{\n  "title": "T",\n  "a": [\n    1\n  ]\n}\n```',
    );
    expect(await factsOf('{"title":"T"}', 'json')).toMatchObject({ title: 'T' });
    const feed =
      '{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[{"url":"https://example.com/1","title":"One","content_html":"<p>x</p>"}]}';
    expect(await markdownOf(feed, 'json')).toBe('# F\n\n## [One](https://example.com/1)\n\nx');
  });

  it('RSS and Atom: entries with titles, dates, authors and clean content', async () => {
    const rss =
      '<?xml version="1.0"?><rss><channel><title>News</title><description>All of it</description><item><title>One &amp; only</title><link>https://example.com/1</link>' +
      '<pubDate>Mon, 16 Nov 2026 10:00:00 GMT</pubDate><dc:creator>A. Whale</dc:creator><description>short</description>' +
      '<content:encoded><![CDATA[<p>Long <b>text</b> <a href="/x">x</a><script>no()</script></p>]]></content:encoded></item></channel></rss>';
    expect(await markdownOf(rss, 'feed')).toBe(
      '# News\n\nAll of it\n\n## [One & only](https://example.com/1)\n\n2026-11-16, A. Whale\n\nLong **text** [x](https://example.com/x)',
    );
    const atom =
      '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title><link href="/1"/><updated>2026-11-16T10:00:00Z</updated>' +
      '<content type="xhtml"><div><p>Text</p></div></content></entry></feed>';
    expect(await markdownOf(atom, 'feed', { url: 'https://example.com/feed' })).toBe(
      '# News\n\n## [One](https://example.com/1)\n\n2026-11-16\n\nText',
    );
  });
});

describe('documents that cannot be read', () => {
  it('have a code of their own', async () => {
    expect(await codeOf('not a zip', 'docx')).toBe('DOCUMENT_INVALID');
    expect(await codeOf(zip({ 'a.txt': 'x' }), 'docx')).toBe('DOCUMENT_INVALID');
    expect(await codeOf(zip({ 'a.txt': 'x' }), 'epub')).toBe('DOCUMENT_INVALID');
    expect(await codeOf('{', 'json')).toBe('DOCUMENT_INVALID');
    expect(await codeOf('<html/>', 'feed')).toBe('DOCUMENT_INVALID');
    expect(await codeOf('no pdf at all', 'pdf')).toBe('DOCUMENT_INVALID');
    expect(await codeOf(epubFile(true), 'epub')).toBe('DOCUMENT_ENCRYPTED');
    const locked = [{ name: 'content.xml', data: 'x', isEncrypted: true }];
    expect(await codeOf(zip(locked), 'odt')).toBe('DOCUMENT_ENCRYPTED');
    const old = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]);
    expect(await codeOf(old, 'docx')).toBe('DOCUMENT_ENCRYPTED');
    expect(await codeOf(old.subarray(0, 20), 'xlsx')).toBe('DOCUMENT_INVALID');
  });

  it('a bomb is not unpacked', async () => {
    const bomb = zip({ 'word/document.xml': 'A'.repeat(300 * 1024 * 1024) });
    expect(bomb.length).toBeLessThan(400_000);
    expect(await codeOf(bomb, 'docx')).toBe('DOCUMENT_LIMIT');
  });

  it('an element may have any number of attributes, of which the first ones count', async () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `a${at}="b"`).join(' ');
    const read = (attributes: string) => {
      const link = `&lt;p>before &lt;a ${attributes}>a link&lt;/a> after&lt;/p>`;
      return markdownOf(`<rss><channel><item><description>${link}</description></item></channel></rss>`, 'feed');
    };
    const before = limitsReached('documentAttributes');
    expect(await read(`href="https://e.com/1" ${many}`)).toBe('before [a link](https://e.com/1) after');
    expect(await read(`${many} href="https://e.com/1"`)).toBe('before a link after');
    expect(limitsReached('documentAttributes')).toBe(before + 2);
  });

  it('of two attributes of one name the first counts, and a tag that is cut off none', async () => {
    const chapter = (text: string) =>
      markdownOf(`<rss><channel><item><description><![CDATA[${text}]]></description></item></channel></rss>`, 'feed');
    expect(await chapter('<a href="https://e.com/1" href="https://e.com/2">x</a>')).toBe('[x](https://e.com/1)');
    expect(await chapter('words<a href="https://e.com/1"')).toBe('words');
    expect(await chapter('<p>words')).toBe('words');
  });

  it('takes no type for a format because of its name', () => {
    for (const type of ['constructor', '__proto__', 'valueof', 'application/constructor']) {
      expect(
        documentFormatOf({ type, url: 'https://example.com/a.constructor' }, Buffer.from('words')),
      ).toBeUndefined();
    }
  });

  it('deep nesting ends somewhere', async () => {
    const p = '<w:p><w:r><w:t>before</w:t></w:r></w:p>';
    const deep = `${'<w:sdt><w:sdtContent>'.repeat(200_000)}<w:p><w:r><w:t>words</w:t></w:r></w:p>`;
    // What stands deeper than the limit is left out.
    expect(await markdownOf(docxFile(`${p}${deep}`), 'docx')).toBe('before');
    expect(await markdownOf(`{\\rtf1 ${'{'.repeat(100_000)}words`, 'rtf')).toBe('words');
    expect(await codeOf('['.repeat(100_000), 'json')).toBe('DOCUMENT_INVALID');
  });
});

describe('the format of a document', () => {
  const format = (type: string, url = '', bytes: string | Buffer = '', disposition?: string) =>
    documentFormatOf({ type, url, disposition }, Buffer.from(bytes as string));

  it('follows from its type, its bytes, its name', () => {
    expect(format('application/pdf')).toBe('pdf');
    expect(format('application/octet-stream', 'https://e.com/x', '\n%PDF-1.4')).toBe('pdf');
    expect(format('', '', odtFile())).toBe('odt');
    expect(format('application/zip', 'https://e.com/a.docx?x=1', docxFile())).toBe('docx');
    expect(format('application/octet-stream', 'https://e.com/get', docxFile(), 'attachment; filename="a.DOCX"')).toBe(
      'docx',
    );
    expect(format('text/plain', 'https://e.com/a.csv')).toBe('csv');
    expect(format('application/xml', '', '<?xml version="1.0"?><rss version="2.0">')).toBe('feed');
  });

  it('is none for pages, pictures, archives and files that are not what their name says', () => {
    expect(format('text/html', 'https://e.com/a.pdf', '<html>')).toBeUndefined();
    expect(format('image/png', 'https://e.com/a.pdf')).toBeUndefined();
    expect(format('application/zip', 'https://e.com/a.zip', zip({ a: 'b' }))).toBeUndefined();
    expect(format('application/octet-stream', 'https://e.com/a.pdf', 'MZ program')).toBeUndefined();
    expect(format('text/xml', '', '<urlset>')).toBeUndefined();
  });
});

describe('markdown', () => {
  const MARKDOWN = `---
title: "Orcas of the north"
author: Ada Marsh
---
# Orcas

They hunt in **pods**, *share* their \`catch\`, and read [the guide](/guide "Guide") or [more][1].
A second line of it\\
after a break, snake_case_name and 2 * 3 * 4 stay. ~~Not so~~ <b>plain</b>!

Hunting
-------

- salmon
- seals
  1. young ones
  2. others
- [x] done

> A quote.

| Name | Mass |
| --- | ---: |
| Orca | 5 \\| 6 t |

\`\`\`js
const a = '<b>';
\`\`\`

***

[1]: https://other.example/more
`;

  it('has headings, lists, tables, code, links and emphasis', async () => {
    const { html, facts } = await convertDocument(Buffer.from(MARKDOWN), 'markdown', {
      url: 'https://sea.example/a/b',
    });
    expect(facts).toMatchObject({ format: 'markdown', title: 'Orcas of the north', author: 'Ada Marsh' });
    expect(toMarkdown(html).raw).toBe(
      [
        '# Orcas',
        'They hunt in **pods**, *share* their catch, and read [the guide](https://sea.example/guide) or [more](https://other.example/more). A second line of it\\\nafter a break, snake_case_name and 2 \\* 3 \\* 4 stay. ~~Not so~~ plain!',
        '## Hunting',
        '- salmon\n- seals\n  1. young ones\n  2. others\n- done',
        'A quote.',
        '| Name | Mass |\n| --- | --- |\n| Orca | 5 \\| 6 t |',
        "```\nconst a = '<b>';\n```",
      ].join('\n\n'),
    );
  });

  it('may have lines of some MB of anything', async () => {
    const html = async (text: string) => (await convertDocument(Buffer.from(text), 'markdown', {})).html;
    const body = async (text: string) => /<body>([^]*)<\/body>/.exec(await html(text))![1];
    const many = 6_000_000;
    expect(await body(`a\n\n${'_'.repeat(many)}\n\nb`)).toBe('<p>a</p><p>b</p>');
    expect(await body(`| a |\n|${'-|'.repeat(many)}\n| b |`)).toBe(
      '<table><tr><th>a</th></tr><tr><td>b</td></tr></table>',
    );
    expect(await body(`a\n\n${'\\\n'.repeat(many / 2)}\nb`)).toBe('<p>a</p><p>b</p>');
    const marked = await body(`**[a](https://e.com/) ${'*b* '.repeat(300_000)}\n[c](https://e.com/)**`);
    expect(marked!.startsWith('<p>**<a href="https://e.com/">a</a> <em>b</em> <em>b</em>')).toBe(true);
    expect(marked!.endsWith('*b* *b* *b* [c](https://e.com/)**</p>')).toBe(true);
    expect(await body(`a\n${'b c\n'.repeat(10_000)}[d](x`)).toBe(`<p>a ${'b c '.repeat(10_000)}[d](x</p>`);
  });

  it('of a stranger is text wherever it does not close', async () => {
    const { html } = await convertDocument(Buffer.from('**a [b ![c `d <e _f'), 'markdown', {});
    expect(html).toContain('<p>**a [b ![c `d &lt;e _f</p>');
    const bare = await convertDocument(Buffer.from('See https://sea.example/x.'), 'markdown', {});
    const signs = await convertDocument(Buffer.from('[*a](</ **b** [c]( ![d](x) _e [f_](/g) h'), 'markdown', {
      url: 'https://sea.example/',
    });
    expect(signs.html).toContain(
      '<p>[*a](&lt;/ <strong>b</strong> [c]( d <em>e </em><a href="https://sea.example/g"><em>f</em></a> h</p>',
    );
    expect(bare.html).toContain('<p>See <a href="https://sea.example/x">https://sea.example/x</a>.</p>');
  });
});
