// Documents whose words, headings and tables are known, for any program that makes PDF files: one source, many forms.
// Used by the test that runs everywhere (a browser) and by `npm run measure -- documents` (LibreOffice and LaTeX too).

export type SourceBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] };

export interface SourceDocument {
  readonly name: string;
  readonly title: string;
  readonly blocks: readonly SourceBlock[];
}

const WORDS = (
  'orca pod salmon current harbour winter signal calf mother dialect coast island hunter silence motion water deep cold ' +
  'family research season northern count sound travel memory fishing surface distance evening record observer boat engine ' +
  'quiet region long-term well-known measure between morning because through without several different important often'
).split(' ');

/** A row of numbers that looks like chance and is always the same. */
function chance(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
}

export function sourceDocument(seed: number): SourceDocument {
  const next = chance(seed + 1);
  const whole = (below: number) => Math.floor(next() * below);
  const word = () => WORDS[whole(WORDS.length)]!;
  const phrase = (count: number) => {
    const text = Array.from({ length: count }, word).join(' ');
    return text[0]!.toUpperCase() + text.slice(1);
  };
  const sentence = () => `${phrase(6 + whole(12))}${next() < 0.3 ? `, ${word()} ${word()}` : ''}.`;
  const paragraph = (): SourceBlock => ({
    kind: 'paragraph',
    text: Array.from({ length: 3 + whole(5) }, sentence).join(' '),
  });
  const table = (): SourceBlock => {
    const columns = 2 + whole(4);
    const cell = (row: number, column: number) =>
      row === 0 || column === 0 ? phrase(1 + whole(2)) : next() < 0.5 ? String(whole(10_000)) : phrase(1 + whole(3));
    const rows = Array.from({ length: 3 + whole(6) }, (_, row) =>
      Array.from({ length: columns }, (_, at) => cell(row, at)),
    );
    return { kind: 'table', rows };
  };
  const list = (): SourceBlock => ({
    kind: 'list',
    isOrdered: next() < 0.4,
    items: Array.from({ length: 3 + whole(4) }, () => phrase(3 + whole(14))),
  });
  const title = phrase(4);
  const blocks: SourceBlock[] = [{ kind: 'heading', level: 1, text: title }, paragraph()];
  for (let section = 0; section < 3 + whole(3); section++) {
    blocks.push({ kind: 'heading', level: 2, text: phrase(2 + whole(4)) }, paragraph(), paragraph());
    if (next() < 0.6) blocks.push(list(), paragraph());
    if (next() < 0.6) blocks.push({ kind: 'heading', level: 3, text: phrase(2 + whole(3)) }, paragraph());
    if (section % 2 === 0) blocks.push(table(), paragraph());
  }
  return { name: `document-${seed}`, title, blocks };
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

/** As a page of HTML, in one of several styles. */
export function asHtml({ title, blocks }: SourceDocument, style: string): string {
  const body = blocks.map((block) => {
    // Tables are the rest.
    // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- the default is a table
    switch (block.kind) {
      case 'heading':
        return `<h${block.level}>${escaped(block.text)}</h${block.level}>`;
      case 'paragraph':
        return `<p>${escaped(block.text)}</p>`;
      case 'list': {
        const name = block.isOrdered ? 'ol' : 'ul';
        return `<${name}>${block.items.map((item) => `<li>${escaped(item)}</li>`).join('')}</${name}>`;
      }
      default: {
        const row = (cells: readonly string[], name: string) =>
          `<tr>${cells.map((cell) => `<${name}>${escaped(cell)}</${name}>`).join('')}</tr>`;
        return `<table><thead>${row(block.rows[0]!, 'th')}</thead><tbody>${block.rows
          .slice(1)
          .map((cells) => row(cells, 'td'))
          .join('')}</tbody></table>`;
      }
    }
  });
  return `<!doctype html><html lang=en><head><meta charset=utf-8><title>${escaped(title)}</title><style>${style}</style></head><body>${body.join('\n')}</body></html>`;
}

export const HTML_STYLES: Readonly<Record<string, string>> = {
  plain: 'table,td,th{border:1px solid}',
  columns:
    'body{column-count:2;column-gap:24px;font:12px/1.4 serif;text-align:justify} h1{column-span:all} table{border-collapse:collapse} td,th{border:1px solid #888;padding:2px 5px}',
  lined:
    'body{font:14px/1.5 sans-serif;margin:40px} table{border-collapse:collapse;width:100%} td,th{border-bottom:1px solid #999;padding:5px 10px;text-align:left}',
  bare: 'body{font:15px/1.35 Georgia,serif} td,th{padding:4px 24px 4px 0;text-align:left;font-weight:normal}',
  boxed:
    'body{font:13px/1.45 sans-serif} table{border-collapse:collapse} td,th{border:2px solid #333;padding:6px} th{background:#ddd} h2{border-bottom:1px solid}',
};

/** As flat OpenDocument, which LibreOffice converts to anything. */
export function asFlatOdt({ title, blocks }: SourceDocument, isTwoColumns = false): string {
  const body = blocks.map((block) => {
    // Tables are the rest.
    // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- the default is a table
    switch (block.kind) {
      case 'heading':
        return block.level === 1
          ? `<text:h text:style-name="Heading_20_1" text:outline-level="1">${escaped(block.text)}</text:h>`
          : `<text:h text:style-name="Heading_20_${block.level}" text:outline-level="${block.level}">${escaped(block.text)}</text:h>`;
      case 'paragraph':
        return `<text:p text:style-name="Body">${escaped(block.text)}</text:p>`;
      case 'list':
        return `<text:list text:style-name="${block.isOrdered ? 'Numbers' : 'Bullets'}">${block.items
          .map((item) => `<text:list-item><text:p text:style-name="Body">${escaped(item)}</text:p></text:list-item>`)
          .join('')}</text:list>`;
      default:
        return `<table:table><table:table-column table:number-columns-repeated="${block.rows[0]!.length}"/>${block.rows
          .map(
            (row) =>
              `<table:table-row>${row.map((cell) => `<table:table-cell table:style-name="Cell"><text:p text:style-name="CellText">${escaped(cell)}</text:p></table:table-cell>`).join('')}</table:table-row>`,
          )
          .join('')}</table:table>`;
    }
  });
  const heading = (level: number, size: number) =>
    `<style:style style:name="Heading_20_${level}" style:family="paragraph" style:default-outline-level="${level}"><style:paragraph-properties fo:margin-top="0.4cm" fo:margin-bottom="0.2cm" fo:keep-with-next="always"/><style:text-properties fo:font-size="${size}pt" fo:font-weight="bold" style:font-name="Liberation Sans"/></style:style>`;
  const level = (kind: string, format: string) =>
    `<text:list-level-style-${kind} text:level="1" ${format}><style:list-level-properties text:list-level-position-and-space-mode="label-alignment"><style:list-level-label-alignment text:label-followed-by="listtab" fo:text-indent="-0.6cm" fo:margin-left="1.2cm"/></style:list-level-properties></text:list-level-style-${kind}>`;
  const columns = isTwoColumns ? '<style:columns fo:column-count="2" fo:column-gap="0.6cm"/>' : '';
  return (
    '<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">' +
    `<office:meta><dc:title>${escaped(title)}</dc:title></office:meta><office:styles>${heading(1, 20)}${heading(2, 15)}${heading(3, 12.5)}` +
    '<style:style style:name="Body" style:family="paragraph"><style:paragraph-properties fo:margin-bottom="0.2cm" fo:text-align="justify"/><style:text-properties fo:font-size="11pt" style:font-name="Liberation Serif"/></style:style>' +
    `<style:style style:name="CellText" style:family="paragraph"><style:text-properties fo:font-size="${isTwoColumns ? 7 : 10}pt" style:font-name="Liberation Serif"/></style:style></office:styles>` +
    '<office:automatic-styles><style:style style:name="Cell" style:family="table-cell"><style:table-cell-properties fo:border="0.5pt solid #000000" fo:padding="0.1cm"/></style:style>' +
    `<text:list-style style:name="Bullets">${level('bullet', 'text:bullet-char="•"')}</text:list-style><text:list-style style:name="Numbers">${level('number', 'style:num-format="1" style:num-suffix="."')}</text:list-style>` +
    `<style:page-layout style:name="P"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" fo:margin="2cm">${columns}</style:page-layout-properties><style:footer-style/></style:page-layout></office:automatic-styles>` +
    '<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="P"><style:footer><text:p>Page <text:page-number/></text:p></style:footer></style:master-page></office:master-styles>' +
    `<office:body><office:text>${body.join('')}</office:text></office:body></office:document>`
  );
}

/** As LaTeX. */
export function asLatex({ title, blocks }: SourceDocument, options: string, isBooktabs: boolean): string {
  const names = ['', 'title', 'section*', 'subsection*'];
  const body = blocks.map((block) => {
    // Tables are the rest.
    // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- the default is a table
    switch (block.kind) {
      case 'heading':
        return block.level === 1 ? '' : `\\${names[block.level]}{${block.text}}\n`;
      case 'paragraph':
        return `${block.text}\n`;
      case 'list': {
        const name = block.isOrdered ? 'enumerate' : 'itemize';
        return `\\begin{${name}}\n${block.items.map((item) => `\\item ${item}`).join('\n')}\n\\end{${name}}\n`;
      }
      default: {
        const columns = block.rows[0]!.length;
        const form = isBooktabs ? 'l'.repeat(columns) : `|${'l|'.repeat(columns)}`;
        const rows = block.rows.map((row) => `${row.join(' & ')} \\\\`);
        const inner = isBooktabs
          ? `\\toprule\n${rows[0]}\n\\midrule\n${rows.slice(1).join('\n')}\n\\bottomrule`
          : `\\hline\n${rows.join('\n\\hline\n')}\n\\hline`;
        return `\\begin{center}\\small\n\\begin{tabular}{${form}}\n${inner}\n\\end{tabular}\n\\end{center}\n`;
      }
    }
  });
  return `\\documentclass[${options}]{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{lmodern}\n\\usepackage{booktabs}\n\\title{${title}}\\author{}\\date{}\n\\begin{document}\n\\maketitle\n${body.join('\n')}\n\\end{document}\n`;
}

/** As the macros `ms` of groff, with tables for `tbl`. */
export function asGroff({ title, blocks }: SourceDocument, isTwoColumns = false): string {
  const body = blocks.map((block) => {
    // Tables are the rest.
    // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- the default is a table
    switch (block.kind) {
      case 'heading':
        // With PSINCR, a heading of the second level is larger than one of the third.
        return block.level === 1 ? '' : `.SH ${block.level - 1}\n${block.text}`;
      case 'paragraph':
        return `.LP\n${block.text}`;
      case 'list':
        return block.items.map((item, at) => `.IP ${block.isOrdered ? `${at + 1}.` : '\\[bu]'} 3\n${item}`).join('\n');
      default: {
        // A table wider than its column would be printed over the other one.
        const columns = block.rows[0]!.length;
        const form = isTwoColumns ? `lp6w(${(2.4 / columns - 0.1).toFixed(2)}i)` : 'l';
        const cell = (text: string) => (isTwoColumns ? `T{\n${text}\nT}` : text);
        const rows = block.rows.map((row) => row.map(cell).join('\t'));
        return `.LP\n.TS\nallbox;\n${Array.from(block.rows[0]!, () => form).join(' ')}.\n${rows.join('\n')}\n.TE`;
      }
    }
  });
  const columns = isTwoColumns ? '\n.2C' : '';
  return `.nr GROWPS 3\n.nr PSINCR 2p\n.TL\n${title}${columns}\n${body.join('\n')}\n`;
}
