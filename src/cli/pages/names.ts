// File names for pages, by host and path: https://example.com/docs/a becomes example.com/docs/a.md.
// Promise: no name leaves the folder, is hidden, or is given twice, whatever a URL contains.
import { createHash } from 'node:crypto';
import { percentDecoded } from '../../request/percent-decoded.js';
import { parseUrl } from '../../request/url.js';

const MAX_SEGMENT = 80;
const MAX_SEGMENTS = 16;
/** Beyond this many names are not remembered, and each has a hash. */
const MAX_KNOWN = 1_000_000;
/** Names reserved for devices on Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Files of the folder itself. */
const RESERVED = /^index\.(?:md|jsonl)$/i;

export type PageNames = (url: string) => string;

/** @param extension of the files, without a dot */
export function createPageNames(extension: string, maxKnown = MAX_KNOWN): PageNames {
  const known = new Set<string>();
  return (url) => {
    const base = baseName(url, extension);
    const candidates = [base, `${base}-${hashOf(url)}`];
    for (let n = known.size >= maxKnown ? 1 : 0; ; n++) {
      const name = `${candidates[n] ?? `${candidates[1]}-${n}`}.${extension}`;
      // Some file systems do not tell A from a.
      const key = name.toLowerCase();
      if (known.has(key)) continue;
      if (known.size < maxKnown) known.add(key);
      return name;
    }
  };
}

function baseName(text: string, extension: string): string {
  const url = parseUrl(text);
  if (!url) return `other/${hashOf(text)}`;
  const { hostname, port, pathname, search } = url;
  const host = segment(hostname.replace(/^\[|\]$/g, '') + (port === '' ? '' : `_${port}`), extension);
  const parts = pathname.split('/').slice(1).map(percentDecoded);
  const last = parts.pop() || 'index';
  const query = search.length > 1 ? `@${percentDecoded(search.slice(1))}` : '';
  const folders = parts.filter((part) => part !== '').map((part) => segment(part, extension));
  const name = shortened(safe(last + query.replaceAll('&', ',')));
  const all = [host, ...folders, DEVICE.test(name) ? `_${name}` : name];
  if (all.length <= MAX_SEGMENTS) return all.join('/');
  return [...all.slice(0, MAX_SEGMENTS - 2), hashOf(text), all.at(-1)].join('/');
}

/** A folder's name: never that of a file beside it, which ends in the extension. */
function segment(text: string, extension: string): string {
  const name = shortened(safe(text));
  const isTaken = name.toLowerCase().endsWith(`.${extension}`) || RESERVED.test(name) || DEVICE.test(name);
  return isTaken ? `${name}_` : name;
}

function safe(text: string): string {
  const name = text.replace(/[^\p{L}\p{N}._=,@()+~-]/gu, '_').replace(/^\.+/, '_');
  // Windows drops dots at the end.
  return name.endsWith('.') ? `${name}_` : name || '_';
}

function shortened(name: string): string {
  return name.length <= MAX_SEGMENT ? name : `${name.slice(0, MAX_SEGMENT - 9)}-${hashOf(name)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
