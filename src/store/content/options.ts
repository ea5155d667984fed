// The options of a content store, validated once.
// Promise: the rest of the store trusts the result.
import { aBoolean, aFilledString, aFunction, anObject, arrayOf, aWholeNumber, check } from '../../option-checks.js';
import { checkOptions, oneOf, type ShapeOf } from '../../option-checks.js';
import type { DataDirectories } from './data-directories.js';
import type { Durability } from '../segments/segment-file.js';
import { isOwnerGone, ownerName } from '../segments/segment-names.js';

export interface ContentStoreOptions {
  /** The order decides where pages go: adding one changes the directory of future pages; lookups search all. */
  readonly dataDirs: readonly string[];
  /** Names this process's segments; the default lets other local processes check whether it is still alive. */
  readonly writerId?: string;
  /** Store responses, as WARC. Default false. */
  readonly storeRawHtml?: boolean;
  /** Store texts, as WET. Default true. */
  readonly extractText?: boolean;
  /** Many pages per file (default), or one. */
  readonly layout?: 'segments' | 'files';
  /** At this size a segment is closed and a new one started. Default 1 GiB. */
  readonly segmentBytes?: number;
  /** 1 to 9. Default 3: see docs/decisions/012-content-segments.md. */
  readonly gzipLevel?: number;
  /** `machine` syncs segments before an append resolves. Default `process`. */
  readonly durability?: Durability;
  /**
   * All notes of this process's queue: the segments of dead writers that they name are cut to the acknowledged
   * length. Without it there is no queue, and they are cut after their last complete record.
   */
  readonly notes?: Readonly<Record<string, string>>;
  /**
   * Records notes in the queue; called before the first byte of each segment. Resolve only when they are recorded:
   * a settle by a lost holder recorded nothing, and must be repeated by the new one.
   */
  readonly note?: (notes: Readonly<Record<string, string>>) => Promise<void>;
  /** Whether the writer of a segment is certainly dead. */
  readonly isWriterGone?: (writerId: string) => boolean;
  readonly warn?: (message: string) => void;
  /** Shared with other writers to the same, existing directories; `dataDirs` are its paths. */
  readonly directories?: DataDirectories;
  /** The software name in the first record of a segment: `orcrawl/1.2.3`. */
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
