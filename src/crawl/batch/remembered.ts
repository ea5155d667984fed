// What became of the pages of a batch since they were last seen, by the memory and the code of crawls that remember.
// Promise: a visit is remembered after its result was handed over: what a kill loses is told again, never left out.
import type { WholeMemory } from '../../fresh/memory/memory.js';
import type { FieldChange, PageChange } from '../../fresh/page-change.js';
import { createRemembering, isRemembered, pageInHand, type Remembering } from '../../fresh/remembering.js';
import { Request } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import type { CrawlResult, FetchedCapture } from './crawl-result.js';
import type { ResolvedRunConfig } from './run-config.js';

/** What became of a page since the last visit that is remembered. */
export interface ResultChange extends Omit<PageChange, 'duplicateOf' | 'diffFields'> {
  /** What differs in `extracted`, by the paths of the fields; undefined when nothing was extracted then or now. */
  readonly fields: Readonly<Record<string, FieldChange>> | undefined;
}

export interface BatchMemory {
  /** Compares a page with what is remembered of it. The function that comes back remembers this visit. */
  see(result: CrawlResult, capture: FetchedCapture | undefined, config: ResolvedRunConfig): Promise<Seen | undefined>;
  close(): Promise<void>;
}

export interface Seen {
  /** Undefined when the response says nothing about the page: an error other than "not there". */
  readonly change: ResultChange | undefined;
  keep(): void;
}

/** Nothing is opened before the first page. */
export function createBatchMemory(parts: {
  readonly open: () => Promise<WholeMemory>;
  readonly nowMs: () => number;
  readonly keepsVersions: boolean;
}): BatchMemory {
  const { nowMs, keepsVersions } = parts;
  let opening: Promise<{ readonly memory: WholeMemory; readonly remembering: Remembering }> | undefined;

  async function open() {
    const memory = await parts.open();
    return { memory, remembering: createRemembering({ memory, nowMs, run: 0, keepsVersions }) };
  }

  return {
    async see(result, capture, config) {
      const request = capture && requestOf(result, config);
      if (!request) return undefined;
      const { memory, remembering } = await (opening ??= open());
      const texts = {
        mainText: () => result.comparedText(),
        wholeText: () => result.text,
        markdown: () => result.markdown.fit,
      };
      const found = remembering.changeOf(request, capture, pageInHand(capture, texts));
      const { kind, lastSeen, lastChanged, visits, changes } = found;
      const extracted = result.success && config.extract ? result.extracted : null;
      const fields = extracted === null ? undefined : found.diffFields(extracted);
      const saysNothing = !result.success && kind !== 'removed';
      const facts = { kind, lastSeen, lastChanged, visits, changes, fields, diff: () => found.diff() };
      return {
        change: saysNothing ? undefined : facts,
        keep: () => memory.settle(remembering.visitsOf(request), true),
      };
    },
    async close() {
      const opened = await opening?.catch(() => undefined);
      await opened?.memory.close();
    },
  };
}

/** The request by whose URL a page is known; undefined when this was no visit of a page. */
function requestOf(result: CrawlResult, { method, body, jsOnly }: ResolvedRunConfig): Request | undefined {
  const isPage = result.success || result.errorCode === 'HTTP_STATUS';
  // What the cache has was not looked at; what a payload gives is another thing each time.
  if (!isPage || result.cacheStatus === 'hit' || jsOnly || body !== undefined || !parseUrl(result.url))
    return undefined;
  const request = new Request({ url: result.url, method });
  return isRemembered(request) ? request : undefined;
}
