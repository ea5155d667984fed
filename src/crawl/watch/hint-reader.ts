// Reads what watched sites list of their pages, now and then, on the command line and on pods.
// Promise: what changed by a list that is believed is due now; reading ends with the watch, and is paid from its budget.
import type { SiteHints } from '../../fresh/hints/site-hints.js';
import type { DueOrder, PageMemory } from '../../fresh/memory/memory.js';
import { pageKeyOf } from '../../fresh/remembering.js';
import type { Fingerprint } from '../../request/fingerprint.js';
import { type HintListOptions, MAX_HINT_ORIGINS, readHintLists } from '../storage/hint-lists.js';
import type { Time } from '../time.js';

export interface HintReaderParts extends Pick<
  HintListOptions,
  'userAgent' | 'lists' | 'isNamed' | 'allowPrivateAddresses' | 'delayMs'
> {
  readonly memory: Pick<PageMemory, 'find'> & Pick<DueOrder, 'plan'>;
  readonly hints: Pick<SiteHints, 'list' | 'isUrgent' | 'save'>;
  readonly time: Time;
  /** Told how many requests were made. */
  readonly spend: (requests: number) => void;
  /** What the requests may take at most, per second; Infinity where each site is read once per hour whatever it costs. */
  readonly requestsPerSec?: () => number;
}

export interface HintReader {
  /** A site is watched: its lists are read in turn. */
  addOrigin(origin: string): void;
  /** Begins to read if it is time to. */
  look(): void;
  close(): Promise<void>;
}

/** How often the lists of a site are read. */
const EVERY_MS = 3_600_000;
/** Sites that are read in turn; later ones take the place of those that were added first. */
const MAX_ORIGINS = 10_000;
/** Pages that one reading may make due. */
const MAX_URGENT = 100_000;

export function createHintReader({ memory, hints, time, lists = [], ...parts }: HintReaderParts): HintReader {
  /** Sites that were never read, and when the others were, the oldest first. */
  const unread = new Set<string>();
  const readAtMs = new Map<string, number>();
  const end = new AbortController();
  let listsAtMs = -Infinity;
  let notBeforeMs = -Infinity;
  let reading: Promise<void> | undefined;

  /** Those whose time has come, noted as read. */
  function nextOrigins(nowMs: number): string[] {
    const origins = [...unread].slice(0, MAX_HINT_ORIGINS);
    for (const [origin, atMs] of readAtMs) {
      if (origins.length === MAX_HINT_ORIGINS || atMs > nowMs - EVERY_MS) break;
      origins.push(origin);
    }
    for (const origin of origins) {
      unread.delete(origin);
      readAtMs.delete(origin);
      readAtMs.set(origin, nowMs);
    }
    return origins;
  }

  async function read(origins: readonly string[], alsoLists: readonly string[]): Promise<void> {
    const { userAgent, isNamed, allowPrivateAddresses, delayMs } = parts;
    const urgent: Fingerprint[] = [];
    const nowSecs = Math.floor(time.wallMs() / 1000);
    const asked = await readHintLists({
      ...{ origins, userAgent, isNamed, allowPrivateAddresses, delayMs },
      lists: alsoLists,
      signal: end.signal,
      take(entries) {
        for (const { url, lastmod } of entries) {
          const key = pageKeyOf({ target: url, keepUrlFragment: false });
          const known = memory.find(key);
          // Of a page that nobody watches nothing is to be known.
          if (!known) continue;
          hints.list(key, lastmod);
          const isPlanned = known.page.nextVisitAt > nowSecs;
          if (isPlanned && urgent.length < MAX_URGENT && hints.isUrgent(key, known)) urgent.push(key);
        }
      },
    });
    parts.spend(asked);
    notBeforeMs = time.monotonicMs() + (asked / (parts.requestsPerSec?.() ?? Infinity)) * 1_000;
    for (const key of urgent) {
      if (end.signal.aborted) return;
      await memory.plan(key, nowSecs);
    }
    if (!end.signal.aborted) await hints.save();
  }

  return {
    addOrigin(origin) {
      if (readAtMs.has(origin) || unread.has(origin) || unread.size >= MAX_ORIGINS) return;
      if (readAtMs.size + unread.size >= MAX_ORIGINS) readAtMs.delete(readAtMs.keys().next().value!);
      unread.add(origin);
    },
    look() {
      const nowMs = time.monotonicMs();
      if (reading || end.signal.aborted || nowMs < notBeforeMs) return;
      const origins = nextOrigins(nowMs);
      const alsoLists = nowMs >= listsAtMs + EVERY_MS ? lists : [];
      if (origins.length + alsoLists.length === 0) return;
      if (alsoLists.length > 0) listsAtMs = nowMs;
      // A hint that cannot be had is not missed.
      reading = read(origins, alsoLists)
        .catch(() => undefined)
        .finally(() => (reading = undefined));
    },
    async close() {
      end.abort();
      await reading;
    },
  };
}
