// `saveErrorSnapshots`: what a page showed when its handler failed, for the first error of each kind.
// Promise: a snapshot that cannot be taken never hides the error; nothing is loaded before an error is thrown.
import type { CrawlingContext } from '../../../handle/context.js';
import type { TrackedError } from '../../../observe/error-tracker.js';
import type { HandlerServices } from '../services.js';
import type { Statistics } from './statistics.js';

type Handle = HandlerServices<CrawlingContext>['request'];

/** Of one crawl. */
const MAX_SNAPSHOTS = 1_000;

export function withSnapshots(handle: Handle, stats: Statistics, isOn: boolean | undefined): Handle {
  if (!isOn) return handle;
  const trackers = [stats.errorTracker, stats.errorTrackerRetry];
  const seen = new Set<string>();
  return async (context) => {
    try {
      await handle(context);
    } catch (thrown) {
      const error = thrown as TrackedError;
      const kind = error instanceof Error ? stats.errorTracker.kindOf(error) : undefined;
      if (kind !== undefined && !seen.has(kind) && seen.size < MAX_SNAPSHOTS) {
        seen.add(kind);
        const { ErrorSnapshotter, filesOf } = await import('../../../crawlee/error-snapshotter.js');
        const files = filesOf(await new ErrorSnapshotter().captureSnapshot(error, context as never));
        for (const tracker of trackers) tracker.describe(kind, files);
      }
      throw thrown;
    }
  };
}
