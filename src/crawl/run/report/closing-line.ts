// What a crawl logs when it ends.
import type { Counters } from '../../../frontier/frontier.js';
import { countOf, countText, durationText } from '../../../observe/figures.js';
import type { Enough } from '../../order/enough.js';
import type { RunEnd } from '../lifecycle.js';
import type { FinalStatistics } from './statistics.js';

/** The summary of a crawl, for its log. */
export function closingLine(
  final: FinalStatistics,
  interrupted: boolean,
  end: RunEnd['kind'],
  left: Counters | undefined,
): string {
  const hows = { limit: 'Reached maxRequestsPerCrawl', stopped: 'Stopped' } as Record<string, string>;
  const how = interrupted ? 'Interrupted' : (hows[end] ?? 'Finished');
  const pending = left ? left.queued + left.retrying + left.leased : 0;
  const fate = interrupted ? 'the next run continues' : 'the next run starts afresh';
  const rest = pending > 0 && end !== 'limit' ? `, ${countText(pending)} still queued (${fate})` : '';
  const { requestsFinished, requestsFailed, crawlerRuntimeMillis } = final;
  return (
    `${how}: ${countOf(requestsFinished, 'page')}, ${countText(requestsFailed)} failed, ` +
    durationText(crawlerRuntimeMillis) +
    rest
  );
}

/** A run that was given requests, and found all of them done. */
export function isNothingNew(
  { requestsFinished, requestsFailed }: FinalStatistics,
  end: RunEnd,
  left: Counters,
): boolean {
  const pending = left.queued + left.retrying + left.leased;
  return end.kind === 'exhausted' && requestsFinished + requestsFailed + pending === 0 && left.done > 0;
}

export function enoughLine({ pages, relevant, coverage }: Enough['figures']): string {
  return (
    `Found enough about the query: ${countText(relevant)} of ${countOf(pages, 'page')} are about it, ` +
    `with ${Math.round(100 * coverage)} % of its words, and the last ones added nothing new`
  );
}
