// The checker's own reader of what a crawl left on disk: items, batch results, content segments and their indexes.
// Node builtins only, and nothing from src/: it knows the formats from docs/storage.md and docs/content-files.md.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const list = (folder) => (existsSync(folder) ? readdirSync(folder).sort() : []);

/** Lines of JSON; what cannot be read is damage. */
function readLines(file, damage) {
  const text = readFileSync(file, 'utf8');
  const found = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      found.push(JSON.parse(line));
    } catch {
      damage.push(`${file}: not a line of JSON: ${line.slice(0, 80)}`);
    }
  }
  if (text !== '' && !text.endsWith('\n')) damage.push(`${file}: the last line is torn`);
  return found;
}

/** Items of a dataset folder: `{ url, title }`. */
export function readItems(folder, damage) {
  return list(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readLines(join(folder, name), damage));
}

/** The successes in a file of batch results; other lines are attempts that failed. */
export function readBatch(file, damage) {
  if (!existsSync(file)) return [];
  return readLines(file, damage).filter(({ success }) => success === true);
}

/** The pages in the content folder of a data directory, one per record: `{ url, title }`. */
export function readContent(dataDir, damage) {
  const folder = join(dataDir, 'content');
  const pages = [];
  const names = list(folder);
  for (const name of names.filter((one) => one.endsWith('.gz'))) {
    const bytes = readFileSync(join(folder, name));
    const records = recordsIn(bytes, `${dataDir}/${name}`, damage).filter(({ type }) => type === 'conversion');
    const stem = name.slice(0, -'.gz'.length);
    const lines = [`${stem}.cdxj`, `${stem}.cdxj.tail`].flatMap((index) =>
      names.includes(index) ? indexLines(join(folder, index), damage) : [],
    );
    compare(bytes, records, lines, `${dataDir}/${name}`, damage);
    for (const { url, text } of records) pages.push({ url, title: /Page \d+ of host \d+/.exec(text)?.[0] });
  }
  for (const name of names.filter((one) => /\.pages\.cdxj(\.tail)?$/.test(one))) {
    for (const line of indexLines(join(folder, name), damage)) pages.push(readPageFile(folder, line, damage));
  }
  return pages;
}

/** With one file per page, the index names the file. */
function readPageFile(folder, { url, key, filename }, damage) {
  const expected = `${createHash('sha256').update(key).digest('hex')}.txt`;
  if (filename !== expected) damage.push(`${folder}: ${url} should be in ${expected}, not in ${filename}`);
  const file = join(folder, filename ?? expected);
  if (!existsSync(file)) {
    damage.push(`${folder}: the index line of ${url} leads to no file`);
    return { url, title: undefined };
  }
  return { url, title: /Page \d+ of host \d+/.exec(readFileSync(file, 'utf8'))?.[0] };
}

/** Each record is a gzip member; the file is read from the front, so a torn one is seen. */
function recordsIn(bytes, name, damage) {
  let plain;
  try {
    plain = bytes.length === 0 ? bytes : gunzipSync(bytes);
  } catch (error) {
    damage.push(`${name}: ${error.message}`);
    return [];
  }
  const records = [];
  for (let at = 0; at < plain.length;) {
    const headEnd = plain.indexOf('\r\n\r\n', at);
    const head = headEnd < 0 ? '' : plain.toString('utf8', at, headEnd);
    const length = Number(field(head, 'Content-Length'));
    if (!head.startsWith('WARC/1.') || !Number.isInteger(length)) {
      damage.push(`${name}: no record at ${at}`);
      return records;
    }
    const from = headEnd + 4;
    if (from + length + 4 > plain.length) damage.push(`${name}: the last record is torn`);
    const text = plain.toString('utf8', from, from + length);
    records.push({ type: field(head, 'WARC-Type'), url: field(head, 'WARC-Target-URI'), text });
    at = from + length + 4;
  }
  return records;
}

const field = (head, name) => new RegExp(`^${name}:[ \\t]*(.*?)\\r?$`, 'im').exec(head)?.[1];

function indexLines(file, damage) {
  const found = [];
  const text = readFileSync(file, 'utf8');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const { url, key = url, offset, length, filename } = JSON.parse(line.slice(line.indexOf('{')));
      found.push({ url, offset: Number(offset), length: Number(length), filename, key });
    } catch {
      damage.push(`${file}: not an index line: ${line.slice(0, 80)}`);
    }
  }
  return found;
}

/** Every line leads to its record, and every record has one line. */
function compare(bytes, records, lines, name, damage) {
  const counts = new Map();
  for (const { url } of records) counts.set(url, (counts.get(url) ?? 0) + 1);
  for (const { url, offset, length } of lines) {
    counts.set(url, (counts.get(url) ?? 0) - 1);
    try {
      const head = gunzipSync(bytes.subarray(offset, offset + length)).toString('utf8', 0, 2_000);
      if (field(head, 'WARC-Target-URI') !== url) damage.push(`${name}: the index line of ${url} leads elsewhere`);
    } catch {
      damage.push(`${name}: the index line of ${url} leads to no record`);
    }
  }
  for (const [url, rest] of counts) {
    if (rest > 0) damage.push(`${name}: ${rest} records of ${url} without an index line`);
    if (rest < 0) damage.push(`${name}: ${-rest} index lines of ${url} without a record`);
  }
}
