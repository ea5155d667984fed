// A visit that waits for its acknowledgement, as it is written aside, and the keys of the tables beside the pages.
// Promise: what is written aside is all that makes the visit true later, in another process too.
import { type Fingerprint, fingerprintToId } from '../../request/fingerprint.js';
import type { PageVisit } from './memory.js';
import { packNames, packVersion } from './names-row.js';
import { KEY_BYTES, packKey, packPage, unpackKey } from './page-row.js';

/** A visit that was written aside. */
export interface Staged {
  /** Its writer, and the number of the batch. */
  readonly by: string;
  readonly batch: number;
  readonly key: string;
  readonly row: string;
  readonly names: string;
  readonly version?: string | undefined;
  readonly tell?: string | undefined;
  /** The keys of the pages that it links to. */
  readonly links?: string | undefined;
}

/** By the time, then by the page. */
export function dueKey(atSecs: number, key: Buffer): Buffer {
  const packed = Buffer.allocUnsafe(4 + KEY_BYTES);
  packed.writeUInt32BE(Math.min(atSecs, 0xffffffff), 0);
  key.copy(packed, 4);
  return packed;
}

/** By the request, then by the page. */
export function stagedKey({ request, key }: PageVisit): Buffer {
  return Buffer.concat([packKey(request), packKey(key)]);
}

export function stagedRow(visit: PageVisit, by: string, batch: number): Staged {
  const { key, page, names, version, tell, links } = visit;
  return {
    by,
    batch,
    key: fingerprintToId(key),
    row: packPage(page).toString('base64'),
    names: packNames(names),
    version: version && packVersion(version)?.toString('base64'),
    tell,
    links: links && Buffer.concat(links.map(packKey)).toString('base64'),
  };
}

/** The keys in a row of links. */
export function unpackLinks(packed: string | undefined): Fingerprint[] {
  const bytes = Buffer.from(packed ?? '', 'base64');
  return Array.from({ length: Math.floor(bytes.length / KEY_BYTES) }, (_, n) => unpackKey(bytes, n * KEY_BYTES));
}
