// What a content store can be told, checked once.
// Promise: the rest of the store trusts what comes out of here.
import { aBoolean, aFilledString, aFunction, anObject, arrayOf, aWholeNumber, check } from '../../option-checks.js';
import { checkOptions, oneOf, type ShapeOf } from '../../option-checks.js';
import type { DataDirectories } from './data-directories.js';
import type { Durability } from '../segments/segment-file.js';
import { isOwnerGone, ownerName } from '../segments/segment-names.js';

export interface ContentStoreOptions {
  /** In the order that decides where pages go: appending one moves pages yet to come, and look-ups search all. */
  readonly dataDirs: readonly string[];
  /** Names this process's segments; the default tells other processes of this machine whether it still lives. */
  readonly writerId?: string;
  /** Keep responses, as WARC. Default false. */
  readonly storeRawHtml?: boolean;
  /** Keep texts, as WET. Default true. */
  readonly extractText?: boolean;
  /** Many pages per file (default), or one. */
  readonly layout?: 'segments' | 'files';
  /** A segment that grew to this is closed and another one begun. Default 1 GiB. */
  readonly segmentBytes?: number;
  /** 1 to 9. Default 3: see docs/decisions/012-content-segments.md. */
  readonly gzipLevel?: number;
  /** `machine` syncs segments before an append resolves. Default `process`. */
  readonly durability?: Durability;
  /**
   * All notes of the queue that this process settles in: the segments of dead writers that they name are cut to
   * the acknowledged length. Without it there is no queue, and they are cut after their last whole record.
   */
  readonly notes?: Readonly<Record<string, string>>;
  /**
   * Records notes in the queue; called before the first byte of each segment. Resolve only when they are recorded:
   * a settle that found its life over recorded nothing, and must be made again in the new one.
   */
  readonly note?: (notes: Readonly<Record<string, string>>) => Promise<void>;
  /** Whether the writer of a segment is certainly dead. */
  readonly isWriterGone?: (writerId: string) => boolean;
  readonly warn?: (message: string) => void;
  /** Shared with whoever else writes to the same directories, which were made before; `dataDirs` are its paths. */
  readonly directories?: DataDirectories;
  /** Who writes, as the first record of a segment says it: `orcrawl/1.2.3`. */
  readonly software?: string;
  readonly nowMs?: () => number;
}

const SHAPE: ShapeOf<ContentStoreOptions> = {
  dataDirs: check(
    'a list of at least one folder',
    (value) => arrayOf(aFilledString).accepts(value) && (value as []).length > 0,
  ),
  writerId: aFilledString,
  storeRawHtml: aBoolean,
  extractText: aBoolean,
  layout: oneOf(['segments', 'files']),
  segmentBytes: aWholeNumber({ from: 1 }),
  gzipLevel: aWholeNumber({ from: 1, to: 9 }),
  durability: oneOf(['process', 'machine']),
  notes: anObject,
  note: aFunction,
  isWriterGone: aFunction,
  warn: aFunction,
  directories: anObject,
  software: aFilledString,
  nowMs: aFunction,
};

const DEFAULTS = {
  storeRawHtml: false,
  extractText: true,
  layout: 'segments',
  segmentBytes: 1024 ** 3,
  gzipLevel: 3,
  durability: 'process',
  isWriterGone: isOwnerGone,
  software: 'orcrawl',
  nowMs: Date.now,
  warn: (message: string) => process.emitWarning(message, { type: 'OrcrawlWarning' }),
} as const;

type Defaulted = keyof typeof DEFAULTS | 'writerId';
export type ContentSettings = Readonly<
  Omit<ContentStoreOptions, Defaulted> & Required<Pick<ContentStoreOptions, Defaulted>>
>;

export function resolveContentOptions(options: ContentStoreOptions): ContentSettings {
  checkOptions('ContentStore.open', options, SHAPE);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return Object.freeze({
    ...DEFAULTS,
    writerId: ownerName(),
    ...(given as unknown as ContentStoreOptions),
  }) as ContentSettings;
}
