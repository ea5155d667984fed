// Small files of every format, built here: the same words in each, as their programs would write them.
import { zip } from './zip.js';

const relations = (list: Record<string, [string, string, string?]>) =>
  `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${Object.entries(
    list,
  )
    .map(
      ([id, [type, target, mode]]) =>
        `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"${mode ? ` TargetMode="${mode}"` : ''}/>`,
    )
    .join('')}</Relationships>`;

const core =
  '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Orcas of the North</dc:title>' +
  '<dc:creator>A. Whale</dc:creator><dcterms:created>2026-01-02T03:04:05Z</dcterms:created></cp:coreProperties>';

const p = (text: string, style = '', rest = '') =>
  `<w:p><w:pPr>${style ? `<w:pStyle w:val="${style}"/>` : ''}${rest}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const item = (text: string, list: number, level = 0) =>
  p(text, '', `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);
const cell = (text: string, rest = '') => `<w:tc><w:tcPr>${rest}</w:tcPr>${p(text)}</w:tc>`;

export function docxFile(body?: string): Buffer {
  const content =
    body ??
    p('Orcas of the North', 'Title') +
      p('Families', 'berschrift1') +
      '<w:p><w:r><w:t xml:space="preserve">They speak </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>dialects</w:t></w:r>' +
      '<w:r><w:t xml:space="preserve">, see </w:t></w:r><w:hyperlink r:id="rLink"><w:r><w:t>the list</w:t></w:r></w:hyperlink>' +
      '<w:del><w:r><w:delText>never this</w:delText></w:r></w:del>' +
      '<w:r><w:t>.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>' +
      item('Residents', 1) +
      item('Salmon', 1, 1) +
      item('Transients', 1) +
      item('First', 2) +
      item('Second', 2) +
      '<w:tbl><w:tblPr><w:tblLook w:firstRow="1"/></w:tblPr>' +
      `<w:tr>${cell('Pod')}${cell('Members')}</w:tr><w:tr>${cell('J')}${cell('25')}</w:tr>` +
      `<w:tr>${cell('All together', '<w:gridSpan w:val="2"/>')}</w:tr></w:tbl>` +
      p('The end.');
  return zip({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relations({ r1: ['officeDocument', 'word/document.xml'] }),
    'docProps/core.xml': core,
    'word/document.xml': `<w:document xmlns:w="w" xmlns:r="r"><w:body>${content}<w:sectPr/></w:body></w:document>`,
    'word/_rels/document.xml.rels': relations({
      s: ['styles', 'styles.xml'],
      n: ['numbering', 'numbering.xml'],
      f: ['footnotes', 'footnotes.xml'],
      rLink: ['hyperlink', 'https://example.com/pods', 'External'],
    }),
    'word/styles.xml':
      '<w:styles><w:style w:styleId="Title"><w:name w:val="Title"/></w:style>' +
      '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="berschrift1"/></w:style></w:styles>',
    'word/numbering.xml':
      '<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>' +
      '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>' +
      '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>',
    'word/footnotes.xml': `<w:footnotes><w:footnote w:id="2">${p('A note.')}</w:footnote></w:footnotes>`,
  });
}

export function xlsxFile(): Buffer {
  return zip({
    '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.xml'] }),
    'docProps/core.xml': core,
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="Pods" sheetId="1" r:id="s1"/><sheet name="Secret" sheetId="2" state="hidden" r:id="s2"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations({
      s1: ['worksheet', 'worksheets/sheet1.xml'],
      s2: ['worksheet', 'worksheets/sheet2.xml'],
      st: ['styles', 'styles.xml'],
      ss: ['sharedStrings', 'sharedStrings.xml'],
    }),
    'xl/styles.xml': '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    'xl/sharedStrings.xml':
      '<sst><si><t>Pod</t></si><si><t>Counted</t></si><si><r><t>J </t></r><r><t>pod</t></r></si></sst>',
    'xl/worksheets/sheet1.xml':
      '<worksheet xmlns:r="r"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Share</t></is></c></row>' +
      '<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3" s="1"><v>46000</v></c><c r="C3"><v>0.30000000000000004</v></c></row></sheetData>' +
      '<hyperlinks><hyperlink ref="A3" r:id="h1"/></hyperlinks></worksheet>',
    'xl/worksheets/_rels/sheet1.xml.rels': relations({ h1: ['hyperlink', 'https://example.com/j', 'External'] }),
    'xl/worksheets/sheet2.xml':
      '<worksheet><sheetData><row><c t="str"><v>hidden words</v></c></row></sheetData></worksheet>',
  });
}

export function pptxFile(): Buffer {
  const shape = (kind: string, text: string, paragraph = '') =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph${kind ? ` type="${kind}"` : ''}/></p:nvPr></p:nvSpPr><p:txBody>${text
      .split('|')
      .map((line) => `<a:p>${paragraph}<a:r><a:t>${line}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`;
  const slide = (inner: string, rest = '') =>
    `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"${rest}><p:cSld><p:spTree>${inner}</p:spTree></p:cSld></p:sld>`;
  return zip({
    '_rels/.rels': relations({ r1: ['officeDocument', 'ppt/presentation.xml'] }),
    'docProps/core.xml': core,
    'ppt/presentation.xml':
      '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="257" r:id="b"/><p:sldId id="256" r:id="a"/><p:sldId id="258" r:id="c"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations({
      a: ['slide', 'slides/slide1.xml'],
      b: ['slide', 'slides/slide2.xml'],
      c: ['slide', 'slides/slide3.xml'],
    }),
    'ppt/slides/slide1.xml': slide(
      shape('', 'Residents|Transients') +
        shape('title', 'Families') +
        '<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Pod</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>Members</a:t></a:r></a:p></a:txBody></a:tc></a:tr>' +
        '<a:tr><a:tc><a:txBody><a:p><a:r><a:t>J</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>25</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>',
    ),
    'ppt/slides/slide2.xml': slide(shape('ctrTitle', 'Orcas of the North') + shape('sldNum', '1')),
    'ppt/slides/slide3.xml': slide(shape('title', 'Hidden'), ' show="0"'),
  });
}

export function odtFile(inner?: string, kind = 'text'): Buffer {
  const content =
    inner ??
    '<text:p text:style-name="Title">Orcas of the North</text:p><text:h text:outline-level="1">Families</text:h>' +
      '<text:tracked-changes><text:p>never this</text:p></text:tracked-changes>' +
      '<text:p>They speak <text:span text:style-name="B">dialects</text:span>,<text:s text:c="1"/>see <text:a xlink:href="https://example.com/pods">the list</text:a>.' +
      '<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note></text:p>' +
      '<text:list text:style-name="L"><text:list-item><text:p>Residents</text:p><text:list><text:list-item><text:p>Salmon</text:p></text:list-item></text:list></text:list-item>' +
      '<text:list-item><text:p>Transients</text:p></text:list-item></text:list>' +
      '<table:table><table:table-row><table:table-cell><text:p>Pod</text:p></table:table-cell><table:table-cell><text:p>Members</text:p></table:table-cell></table:table-row>' +
      '<table:table-row><table:table-cell><text:p>J</text:p></table:table-cell><table:table-cell><text:p>25</text:p></table:table-cell></table:table-row></table:table>' +
      '<text:p>The end.</text:p>';
  return zip([
    { name: 'mimetype', data: `application/vnd.oasis.opendocument.${kind}`, isStored: true },
    {
      name: 'content.xml',
      data:
        '<office:document-content><office:automatic-styles><style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>' +
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style></office:automatic-styles>' +
        `<office:body><office:${kind}>${content}</office:${kind}></office:body></office:document-content>`,
    },
    {
      name: 'meta.xml',
      data: '<office:document-meta><office:meta><dc:title>Orcas of the North</dc:title><meta:initial-creator>A. Whale</meta:initial-creator><meta:document-statistic meta:page-count="3"/></office:meta></office:document-meta>',
    },
    { name: 'META-INF/manifest.xml', data: '<manifest:manifest/>' },
  ]);
}

export function epubFile(isLocked = false): Buffer {
  const chapter = (title: string, body: string) =>
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title><style>p{}</style></head><body><h1>${title}</h1>${body}</body></html>`;
  return zip([
    { name: 'mimetype', data: 'application/epub+zip', isStored: true },
    {
      name: 'META-INF/container.xml',
      data: '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    },
    {
      name: 'OPS/book.opf',
      data:
        '<package><metadata><dc:title>Orcas of the North</dc:title><dc:creator>A. Whale</dc:creator><dc:language>en</dc:language></metadata>' +
        '<manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>' +
        '<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>',
    },
    { name: 'OPS/nav.xhtml', data: chapter('Contents', '<nav>never this</nav>') },
    {
      name: 'OPS/one.xhtml',
      data: chapter(
        'Families',
        '<p onclick="x()">They <em>speak</em>, see <a href="https://example.com/pods">the list</a> and <a href="two.xhtml">the next</a>.</p><script>alert(1)</script>',
      ),
    },
    { name: 'OPS/two b.xhtml', data: chapter('Hunting', '<ul><li>Seals</li></ul>') },
    ...(isLocked
      ? [
          {
            name: 'META-INF/encryption.xml',
            data: '<encryption><EncryptedData><CipherData><CipherReference URI="OPS/one.xhtml"/></CipherData></EncryptedData></encryption>',
          },
        ]
      : []),
  ]);
}

export const RTF = String.raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset204 Arial Cyr;}}{\stylesheet{\s1\outlinelevel0 heading 1;}}
{\info{\title Orcas of the North}{\author A. Whale}}
\pard\s1\b Families\b0\par
\pard They speak {\b dialects}, caf\'e9 \u8212?dash, {\f1\'cf\'f0}, see {\field{\*\fldinst{HYPERLINK "https://example.com/pods"}}{\fldrslt the list}}.\par
\pard{\listtext\'b7\tab}Residents\par
\pard{\listtext\'b7\tab}Transients\par
\trowd\cellx1000\cellx2000\pard\intbl Pod\cell Members\cell\row
\trowd\cellx1000\cellx2000\pard\intbl J\cell 25\cell\row
\pard{\*\unknown never this}The end.\par}`;
