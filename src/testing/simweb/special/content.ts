// Special paths about content: types, encodings, and pages whose links and robots rules the test chooses.
import { encodeText, sampleFor } from '../pages/charsets.js';
import { HTML_TYPE, TEXT_TYPE, escapeHtml, sendPage, smallPage, wholeNumber } from '../reply.js';
import type { SpecialAnswers, SpecialCall } from '../reply.js';
import { compress } from '../pages/bodies.js';
import type { Encoding } from '../pages/bodies.js';

const PDF = smallPdf('A small PDF of the synthetic web.');
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** One page with one line of text, as readers of PDF expect it. */
function smallPdf(text: string): Buffer {
  const drawing = `BT /F1 18 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const places = objects.map((object, n) => {
    const at = file.length;
    file += `${n + 1} 0 obj${object}endobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const tail = `trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(`${file}xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}${tail}`, 'latin1');
}

/** `declare`: `header` (default), `meta`, `both`, `none`, or `wrong` (the header says UTF-8). */
function sendInCharset({ exchange, args }: SpecialCall): void {
  const label = (args[0] ?? 'utf-8').replace(/[^\w-]/g, '');
  const declare = exchange.query.get('declare') ?? 'header';
  const inMeta = declare === 'meta' || declare === 'both';
  const text =
    `<!doctype html><html><head>${inMeta ? `<meta charset="${label}">` : ''}<title>${sampleFor(label)}</title></head>` +
    `<body><p>${sampleFor(label)}</p><a href="/">${sampleFor(label)}</a></body></html>`;
  let type = 'text/html';
  if (declare === 'header' || declare === 'both') type += `; charset=${label}`;
  else if (declare === 'wrong') type += '; charset=utf-8';
  exchange.send(200, ['content-type', type], encodeText(text, label));
}

export const contentAnswers = {
  page({ exchange }) {
    sendPage(exchange, exchange.query.get('title') ?? 'A page', exchange.query.getAll('href'));
  },
  html: ({ exchange }) => exchange.send(200, HTML_TYPE, exchange.query.get('body') ?? ''),
  'meta-robots'({ exchange, args }) {
    const content = escapeHtml(decodeURIComponent(args[0] ?? 'noindex'));
    sendPage(exchange, 'Meta robots', ['/'], `<meta name="robots" content="${content}">`);
  },
  base({ exchange }) {
    const href = escapeHtml(exchange.query.get('href') ?? '/elsewhere/');
    sendPage(exchange, 'With a base', ['relative'], `<base href="${href}">`);
  },
  json: ({ exchange }) =>
    exchange.send(
      200,
      ['content-type', 'application/json'],
      JSON.stringify({ name: 'simweb', host: exchange.host, list: [1, 2, 3] }),
    ),
  xml: ({ exchange }) =>
    exchange.send(
      200,
      ['content-type', 'application/xml'],
      '<?xml version="1.0"?>\n<shelf><book id="1">Orcas &amp; whales</book></shelf>\n',
    ),
  text: ({ exchange }) => exchange.send(200, TEXT_TYPE, 'Only text, <a href="/not-a-link">no links</a>.\n'),
  pdf: ({ exchange }) => exchange.send(200, ['content-type', 'application/pdf'], PDF),
  image: ({ exchange }) => exchange.send(200, ['content-type', 'image/png'], PIXEL),
  download({ exchange, args }) {
    const name = (args[0] ?? 'file.bin').replace(/[^\w.-]/g, '_');
    let left = wholeNumber(exchange.query.get('bytes'), 1000, 0, 100_000_000);
    const headers = ['content-type', 'application/octet-stream', 'content-length', String(left)];
    headers.push('content-disposition', `attachment; filename="${name}"`);
    exchange.stream(200, headers, () => {
      const bytes = Math.min(left, 65_536);
      left -= bytes;
      return bytes > 0 ? Buffer.alloc(bytes, name) : undefined;
    });
  },
  empty: ({ exchange }) => exchange.send(200, [...HTML_TYPE, 'content-length', '0']),
  'no-type': ({ exchange }) => exchange.send(200, [], smallPage('No type', ['/'])),
  encoded({ exchange, args }) {
    const encoding: Encoding = args[0] === 'br' || args[0] === 'deflate' ? args[0] : 'gzip';
    const body = compress(Buffer.from(smallPage(`In ${encoding}`, ['/'])), encoding);
    exchange.send(200, [...HTML_TYPE, 'content-encoding', encoding], body);
  },
  charset: sendInCharset,
} satisfies SpecialAnswers;
