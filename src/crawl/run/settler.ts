// The last step of every visit: items, then links and acknowledgement in one atomic step of the queue.
// Visits settle in batches; after a crash each item is stored once, because the queue records how much of each
// segment belongs to acknowledged visits, and the rest is cut (guarantee 2).
import type { Time } from '../time.js';
import type { FrontierClient } from '../../frontier/client.js';
import type { PageMemory, PageVisit, StageNote } from '../../fresh/memory/memory.js';
import { killPoint } from '../../base/kill-points.js';
import type { HolderId, Landing, QueueEntry, Settlement } from '../../frontier/frontier.js';
import type { RecentFingerprints } from '../../frontier/recent.js';
import type { ContentStore } from '../../store/content/content.js';
import type { PackedPage } from '../../store/content/page.js';
import type { VisitWriter } from '../../store/dataset/visit-segments.js';

/** What one call of a visit's handler pushed, already lines of JSON. */
export interface PendingItem {
  readonly dataset: string | undefined;
  readonly lines: Uint8Array;
}

export interface FinishedVisit {
  readonly settlement: Settlement;
  readonly items: readonly PendingItem[];
  /** What is stored of the page. */
  readonly page?: PackedPage;
  /** What is remembered of the page once the visit is acknowledged. */
  readonly remembered?: readonly PageVisit[] | undefined;
  /** Called when the settlement is in the queue; `held` is false when the lease had been lost. */
  readonly onSettled?: (held: boolean) => void;
}

/** A finished visit, and the holder's life in which its lease was taken. */
export interface SettledVisit extends FinishedVisit {
  readonly life: HolderId;
}

/** Pages that no visit brings, and notes that become true with them. */
export interface Records {
  readonly pages: readonly PackedPage[];
  readonly notes: Readonly<Record<string, string | null>>;
}

/** What a batch was appended to, and how long that was before. */
interface Written {
  readonly writer: Pick<VisitWriter, 'key' | 'length' | 'note' | 'cutTo'> & { confirm?(): void };
  readonly before: number;
}

export interface Settler {
  /** Tells the queue that a response has ended: its domain's turn is free. */
  land(landing: Landing): void;
  /** Hands over a finished visit; resolves at once unless too many wait (then when there is room). */
  settle(visit: SettledVisit): Promise<void>;
  /** Settles everything handed over so far. */
  flush(): Promise<void>;
  /** Stores pages that no visit brings, with the next batch; `notes` become true in the same step. False: nothing did. */
  record(records: Records): Promise<boolean>;
  /** Settle without waiting for other visits: the crawl has nothing else to do. */
  hurry(): void;
  readonly pending: number;
  close(): Promise<void>;
}

export interface SettlerOptions {
  readonly client: FrontierClient;
  readonly time: Time;
  readonly recent: RecentFingerprints;
  /** The writer of a dataset's visit segment; missing where visits have no items. */
  readonly openWriter?: (dataset: string | undefined) => Promise<VisitWriter>;
  /** Where pages are stored, after the items and before the acknowledgement. */
  readonly content?: Pick<ContentStore, 'append'>;
  /** Where pages are remembered: written aside before the acknowledgement, true with it. */
  readonly memory?: Pick<PageMemory, 'stage' | 'settle'> | undefined;
  /** How long the first visit of a batch waits for others. Default 10. */
  readonly batchWaitMs?: (() => number) | undefined;
  /** A store failed: the crawl cannot go on. */
  readonly onFailure: (error: unknown) => void;
  /** A link of an acknowledged visit was in the queue already, as far as this process knows. */
  readonly onDuplicate?: ((link: QueueEntry) => void) | undefined;
  /** A settle call is being made: other queue calls in the same tick share its commit. */
  readonly onSettling?: () => void;
  readonly onFlushed: () => void;
}

/** A full batch is settled at once; a kill loses at most one. */
export const SETTLE_BATCH = 64;
/** How long the first visit of a batch waits for others. Under load a batch fills sooner. */
const BATCH_WAIT_MS = 10;
/** Links make a batch heavy: past this many it goes at once. */
const BATCH_LINKS = 20_000;
/** So do items: they are joined before they are written. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** Whoever brings more items than this waits until some are written. */
const WAITING_BYTES = 4 * BATCH_BYTES;

export function createSettler(options: SettlerOptions): Settler {
  const { client, recent, batchWaitMs = () => BATCH_WAIT_MS } = options;
  const writers = new Map<string, VisitWriter>();
  const visits: SettledVisit[] = [];
  let landings: Landing[] = [];
  let recording: (Records & { readonly done: (held: boolean) => void })[] = [];
  let links = 0;
  let bytes = 0;
  let cancelTimer: (() => void) | undefined;
  let flushing: Promise<void> | undefined;
  let failed = false;
  let roomWaiters: (() => void)[] = [];

  /** The dataset's writer, or a new one in place of a full one. Only one batch is settled at a time. */
  async function writerOf(dataset: string | undefined): Promise<VisitWriter> {
    const key = dataset ?? '';
    const current = writers.get(key);
    if (current && !current.full) return current;
    await current?.close();
    writers.delete(key);
    const writer = await options.openWriter!(dataset);
    // Noted before the first append: after a crash, bytes without a note would pass for acknowledged ones.
    // A refused call notes nothing: it is made again in the new life.
    while (!(await client.settle({ settlements: [], notes: { [writer.key]: writer.note } })).held);
    writers.set(key, writer);
    return writer;
  }

  function schedule(): void {
    if (failed || flushing) return;
    if (visits.length >= SETTLE_BATCH || links >= BATCH_LINKS || bytes >= BATCH_BYTES) start();
    else if (!cancelTimer && (visits.length > 0 || landings.length > 0 || recording.length > 0)) {
      cancelTimer = options.time.after(batchWaitMs(), start);
    }
  }

  function start(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    if (failed || flushing || (visits.length === 0 && landings.length === 0 && recording.length === 0)) return;
    const batch = takeBatch();
    const landed = landings;
    landings = [];
    const records = recording;
    recording = [];
    flushing = settleBatch(batch, landed, records)
      .catch((error: unknown) => {
        failed = true;
        options.onFailure(error);
      })
      .finally(() => {
        flushing = undefined;
        const waiters = roomWaiters;
        roomWaiters = [];
        for (const resume of waiters) resume();
        schedule();
        options.onFlushed();
      });
  }

  /** The oldest visits, as many as one atomic step should carry; at least one. */
  function takeBatch(): SettledVisit[] {
    let count = 0;
    let batchLinks = 0;
    let batchBytes = 0;
    for (const { settlement, items } of visits) {
      batchLinks += settlement.links?.length ?? 0;
      batchBytes += bytesOf(items);
      if (count > 0 && (batchLinks > BATCH_LINKS || batchBytes > BATCH_BYTES)) break;
      if (++count === SETTLE_BATCH) break;
    }
    const batch = visits.splice(0, count);
    for (const { settlement, items } of batch) {
      links -= settlement.links?.length ?? 0;
      bytes -= bytesOf(items);
    }
    return batch;
  }

  async function settleBatch(
    batch: readonly SettledVisit[],
    landed: readonly Landing[],
    records: typeof recording,
  ): Promise<void> {
    for (const { items } of batch) for (const { dataset } of items) await writerOf(dataset);
    // Opening a writer may have shown that this life is over: what was leased in an earlier one is refused
    // before anything of it is written.
    const life = client.id;
    const held = batch.filter((visit) => visit.life === life);
    for (const visit of batch) if (visit.life !== life) visit.onSettled?.(false);
    const written = await appendAll(
      held,
      records.flatMap(({ pages }) => pages),
    );
    const { visited: remembered, noted } = await remember(held, written);
    const notes: Record<string, string | null> = Object.assign({}, ...records.map((one) => one.notes));
    for (const { writer } of written) notes[writer.key] = writer.note;
    if (noted) notes[noted.key] = noted.note;
    const settlements = held.map(({ settlement }) => withNewLinks(settlement));
    const answering = client.settle({ settlements, landings: landed, notes }, life);
    options.onSettling?.();
    // When no answer came, the step may have happened: what was written stays, and the next start cuts it if it did not.
    const answer = await answering;
    if (!answer.held) await undo(written);
    else {
      for (const { writer } of written) writer.confirm?.();
      for (const { settlement } of held) confirm(settlement);
    }
    if (remembered.length > 0) options.memory?.settle(remembered, answer.held);
    for (const visit of held) visit.onSettled?.(answer.held);
    for (const { done } of records) done(answer.held);
  }

  /** Set aside until the queue has acknowledged the visits; after a crash in between, the queue decides. */
  async function remember(
    batch: readonly SettledVisit[],
    written: readonly Written[],
  ): Promise<{ readonly visited: PageVisit[]; readonly noted?: StageNote | undefined }> {
    const visited = batch.flatMap(({ remembered }) => remembered ?? []);
    if (visited.length === 0 || !options.memory) return { visited };
    killPoint('memory.before-stage');
    let noted: StageNote | undefined;
    try {
      noted = await options.memory.stage(visited);
    } catch (error) {
      await undo(written);
      throw error;
    }
    killPoint('memory.after-stage');
    return { visited, noted };
  }

  function confirm({ kind, links: confirmed = [] }: Settlement): void {
    for (const link of confirmed) {
      // The target of a redirect was accepted without a page that links to it.
      if (options.onDuplicate && kind !== 'skipped' && recent.has(link.fingerprint)) options.onDuplicate(link);
      else recent.add(link.fingerprint);
    }
  }

  /** Items, then content; on failure nothing of the batch stays. */
  async function appendAll(batch: readonly SettledVisit[], more: readonly PackedPage[]): Promise<Written[]> {
    const written: Written[] = await appendItems(batch);
    const pages = [...batch.flatMap(({ page }) => (page ? [page] : [])), ...more];
    if (pages.length === 0 || !options.content) return written;
    try {
      written.push(...(await options.content.append(pages)).written);
      return written;
    } catch (error) {
      await undo(written);
      throw error;
    }
  }

  /** Appends the batch's items, dataset by dataset; on failure nothing of it stays. */
  async function appendItems(batch: readonly SettledVisit[]): Promise<Written[]> {
    const linesOf = new Map<string | undefined, Uint8Array[]>();
    for (const { items } of batch) {
      for (const { dataset, lines } of items) {
        const before = linesOf.get(dataset);
        if (before) before.push(lines);
        else linesOf.set(dataset, [lines]);
      }
    }
    const written: Written[] = [];
    try {
      for (const [dataset, lines] of linesOf) {
        written.push(await appendLines(dataset, lines.length === 1 ? lines[0]! : Buffer.concat(lines)));
      }
    } catch (error) {
      await undo(written);
      throw error;
    }
    return written;
  }

  /** A writer that takes no more because its place failed is replaced, as long as there is another place. */
  async function appendLines(dataset: string | undefined, lines: Uint8Array): Promise<Written> {
    for (;;) {
      const writer = await writerOf(dataset);
      const before = writer.length;
      try {
        await writer.append(lines);
        return { writer, before };
      } catch (error) {
        if (!writer.full) throw error;
      }
    }
  }

  async function undo(written: readonly Written[]): Promise<void> {
    for (const { writer, before } of written) await writer.cutTo(before);
  }

  /** Links this process knows to be in the queue need not travel again. */
  function withNewLinks(settlement: Settlement): Settlement {
    if (!settlement.links?.length) return settlement;
    const fresh: QueueEntry[] = [];
    for (const link of settlement.links) if (!recent.has(link.fingerprint)) fresh.push(link);
    return fresh.length === settlement.links.length ? settlement : { ...settlement, links: fresh };
  }

  return {
    land(landing) {
      landings.push(landing);
      schedule();
    },
    async settle(visit) {
      visits.push(visit);
      links += visit.settlement.links?.length ?? 0;
      bytes += bytesOf(visit.items);
      schedule();
      while ((visits.length > 2 * SETTLE_BATCH || bytes > WAITING_BYTES) && !failed) {
        await new Promise<void>((resume) => roomWaiters.push(resume));
      }
    },
    record(records) {
      if (failed) return Promise.resolve(false);
      return new Promise((done) => {
        recording.push({ ...records, done });
        schedule();
      });
    },
    async flush() {
      while ((visits.length > 0 || landings.length > 0 || recording.length > 0 || flushing) && !failed) {
        start();
        await flushing;
      }
    },
    hurry() {
      if (!flushing) start();
    },
    get pending() {
      return visits.length + (flushing ? 1 : 0);
    },
    async close() {
      cancelTimer?.();
      await flushing;
      for (const writer of writers.values()) await writer.close();
    },
  };
}

function bytesOf(items: readonly PendingItem[]): number {
  let bytes = 0;
  for (const { lines } of items) bytes += lines.length;
  return bytes;
}
