// Special paths about content: types, encodings, and pages whose links and robots rules the test chooses.
import { encodeText, sampleFor } from './simweb-charsets.js';
import { HTML_TYPE, TEXT_TYPE, escapeHtml, sendPage, smallPage, wholeNumber } from './simweb-reply.js';
import type { SpecialCall, SpecialPaths } from './simweb-reply.js';
import { compress } from './simweb-bodies.js';
import type { Encoding } from './simweb-bodies.js';

const PDF = Buffer.from(
  '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
  'latin1',
);
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

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

export const contentPaths: SpecialPaths = {
  page: {
    usage: '/_/page?title=TEXT&href=HREF…',
    does: 'a page with this title and exactly these links',
    answer({ exchange }) {
      sendPage(exchange, exchange.query.get('title') ?? 'A page', exchange.query.getAll('href'));
    },
  },
  html: {
    usage: '/_/html?body=HTML',
    does: 'exactly this HTML',
    answer: ({ exchange }) => exchange.send(200, HTML_TYPE, exchange.query.get('body') ?? ''),
  },
  'meta-robots': {
    usage: '/_/meta-robots/CONTENT',
    does: 'a page with <meta name=robots content=CONTENT> and a link home',
    answer({ exchange, args }) {
      const content = escapeHtml(decodeURIComponent(args[0] ?? 'noindex'));
      sendPage(exchange, 'Meta robots', ['/'], `<meta name="robots" content="${content}">`);
    },
  },
  base: {
    usage: '/_/base?href=HREF',
    does: 'a page with <base href> and the relative link "relative"',
    answer({ exchange }) {
      const href = escapeHtml(exchange.query.get('href') ?? '/elsewhere/');
      sendPage(exchange, 'With a base', ['relative'], `<base href="${href}">`);
    },
  },
  json: {
    usage: '/_/json',
    does: 'a small JSON document',
    answer: ({ exchange }) =>
      exchange.send(
        200,
        ['content-type', 'application/json'],
        JSON.stringify({ name: 'simweb', host: exchange.host, list: [1, 2, 3] }),
      ),
  },
  xml: {
    usage: '/_/xml',
    does: 'a small XML document',
    answer: ({ exchange }) =>
      exchange.send(
        200,
        ['content-type', 'application/xml'],
        '<?xml version="1.0"?>\n<shelf><book id="1">Orcas &amp; whales</book></shelf>\n',
      ),
  },
  text: {
    usage: '/_/text',
    does: 'plain text',
    answer: ({ exchange }) => exchange.send(200, TEXT_TYPE, 'Only text, <a href="/not-a-link">no links</a>.\n'),
  },
  pdf: {
    usage: '/_/pdf',
    does: 'a small PDF (binary type)',
    answer: ({ exchange }) => exchange.send(200, ['content-type', 'application/pdf'], PDF),
  },
  image: {
    usage: '/_/image',
    does: 'a PNG of one pixel',
    answer: ({ exchange }) => exchange.send(200, ['content-type', 'image/png'], PIXEL),
  },
  download: {
    usage: '/_/download/NAME?bytes=N',
    does: 'a file as an attachment (at most 100 MB here; see /_/bytes for more)',
    answer({ exchange, args }) {
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
  },
  empty: {
    usage: '/_/empty',
    does: '200 text/html without a byte of body',
    answer: ({ exchange }) => exchange.send(200, [...HTML_TYPE, 'content-length', '0']),
  },
  'no-type': {
    usage: '/_/no-type',
    does: 'HTML without a Content-Type',
    answer: ({ exchange }) => exchange.send(200, [], smallPage('No type', ['/'])),
  },
  encoded: {
    usage: '/_/encoded/gzip|br|deflate',
    does: 'a page with this Content-Encoding, asked for or not',
    answer({ exchange, args }) {
      const encoding: Encoding = args[0] === 'br' || args[0] === 'deflate' ? args[0] : 'gzip';
      const body = compress(Buffer.from(smallPage(`In ${encoding}`, ['/'])), encoding);
      exchange.send(200, [...HTML_TYPE, 'content-encoding', encoding], body);
    },
  },
  charset: {
    usage: '/_/charset/LABEL[?declare=header|meta|both|none|wrong]',
    does: 'a page in this encoding, declared as asked; unknown labels are sent as UTF-8 under that label',
    answer: sendInCharset,
  },
};
