// Which kind of document a response is: by its type, by its first bytes where the type says nothing, by its name last.
// Promise: looks at a bounded start of the bytes; a page of HTML is never a document.

/** The kinds of documents that can be read. */
export type DocumentFormat =
  | 'pdf'
  | 'docx'
  | 'odt'
  | 'ods'
  | 'odp'
  | 'xlsx'
  | 'pptx'
  | 'epub'
  | 'rtf'
  | 'csv'
  | 'text'
  | 'markdown'
  | 'json'
  | 'feed';

/** What is known of a document before it is read. */
export interface DocumentHint {
  /** In lower case, without parameters; empty when unknown. */
  readonly type: string;
  readonly url?: string | null | undefined;
  /** The response's Content-Disposition, which may name a file. */
  readonly disposition?: string | undefined;
}

const OOXML = 'application/vnd.openxmlformats-officedocument.';
const ODF = 'application/vnd.oasis.opendocument.';
// Maps: a type may be called `constructor`.
const BY_TYPE: ReadonlyMap<string, DocumentFormat> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'application/x-pdf': 'pdf',
    [`${OOXML}wordprocessingml.document`]: 'docx',
    [`${OOXML}wordprocessingml.template`]: 'docx',
    'application/vnd.ms-word.document.macroenabled.12': 'docx',
    [`${OOXML}spreadsheetml.sheet`]: 'xlsx',
    'application/vnd.ms-excel.sheet.macroenabled.12': 'xlsx',
    [`${OOXML}presentationml.presentation`]: 'pptx',
    [`${OOXML}presentationml.slideshow`]: 'pptx',
    'application/vnd.ms-powerpoint.presentation.macroenabled.12': 'pptx',
    [`${ODF}text`]: 'odt',
    [`${ODF}spreadsheet`]: 'ods',
    [`${ODF}presentation`]: 'odp',
    'application/epub+zip': 'epub',
    'application/rtf': 'rtf',
    'text/rtf': 'rtf',
    'application/x-rtf': 'rtf',
    'text/csv': 'csv',
    'application/csv': 'csv',
    'text/tab-separated-values': 'csv',
    'text/plain': 'text',
    'text/markdown': 'markdown',
    'text/x-markdown': 'markdown',
    'application/json': 'json',
    'application/feed+json': 'feed',
    'application/rss+xml': 'feed',
    'application/atom+xml': 'feed',
    'application/rdf+xml': 'feed',
  } satisfies Record<string, DocumentFormat>),
);

const BY_ENDING: ReadonlyMap<string, DocumentFormat> = new Map(
  Object.entries({
    pdf: 'pdf',
    docx: 'docx',
    docm: 'docx',
    dotx: 'docx',
    odt: 'odt',
    ods: 'ods',
    odp: 'odp',
    xlsx: 'xlsx',
    xlsm: 'xlsx',
    pptx: 'pptx',
    ppsx: 'pptx',
    pptm: 'pptx',
    epub: 'epub',
    rtf: 'rtf',
    csv: 'csv',
    tsv: 'csv',
  } satisfies Record<string, DocumentFormat>),
);

/** Types that say no more than that there is a file. */
const VAGUE = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
  'application/download',
  'application/x-download',
  'application/force-download',
  'application/zip',
  'application/x-zip-compressed',
  // What Windows calls CSV, and servers call spreadsheets of any age.
  'application/vnd.ms-excel',
  'application/msword',
  'application/vnd.ms-powerpoint',
]);

/** Formats that are text: whoever does not ask for documents reads them as they are. */
const TEXTUAL: ReadonlySet<DocumentFormat> = new Set<DocumentFormat>(['csv', 'text', 'json', 'feed']);

export function isTextual(format: DocumentFormat): boolean {
  return TEXTUAL.has(format);
}

/** The format of a document; undefined for a page, a picture and whatever else cannot be read as one. */
export function documentFormatOf(hint: DocumentHint, bytes: Uint8Array): DocumentFormat | undefined {
  const { type } = hint;
  if (VAGUE.has(type)) {
    // What a name says is only believed of bytes that do not contradict it.
    const found = byStart(bytes);
    if (found === 'zip' || found === undefined) {
      const named = byName(hint);
      return found === undefined && named !== undefined && !isTextual(named) && bytes.length > 0 ? undefined : named;
    }
    return found;
  }
  const known = BY_TYPE.get(type);
  if (known === 'text') return byName(hint) === 'csv' ? 'csv' : 'text';
  if (known !== undefined) return known;
  if (type.endsWith('+json')) return 'json';
  if (type === 'text/xml' || type === 'application/xml') return looksLikeFeed(bytes) ? 'feed' : undefined;
  return undefined;
}

function byStart(bytes: Uint8Array): DocumentFormat | 'zip' | undefined {
  // Some bytes before `%PDF-` are common, and allowed.
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  if (start.includes('%PDF-')) return 'pdf';
  if (start.startsWith('{\\rtf')) return 'rtf';
  if (!start.startsWith('PK\x03\x04')) return undefined;
  // ODF and EPUB begin with an entry that names them; Office's have no such thing.
  const said = /^mimetype(application\/[\w.+-]{1,80})/.exec(start.slice(30))?.[1];
  return (said !== undefined && BY_TYPE.get(said.replace(/PK$/, ''))) || 'zip';
}

function byName({ url, disposition }: DocumentHint): DocumentFormat | undefined {
  const file = /filename\*?=(?:UTF-8'')?"?([^";]{1,300})/i.exec((disposition ?? '').slice(0, 1000))?.[1];
  for (const name of [file, url?.split(/[?#]/, 1)[0]]) {
    const ending = name === undefined ? undefined : /\.([a-z]{3,4})$/i.exec(name.trim().slice(-8))?.[1];
    const format = ending === undefined ? undefined : BY_ENDING.get(ending.toLowerCase());
    if (format !== undefined) return format;
  }
  return undefined;
}

const FEED_ROOT = /<(?:rss|feed|rdf:RDF)[\s>]/;

function looksLikeFeed(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 2048)).toString('latin1');
  return FEED_ROOT.test(start);
}
