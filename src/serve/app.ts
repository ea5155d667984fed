// What the routes of the server share. Each part has its own file; this one only names them.
import type { AskModel } from '../crawl/model/ask.js';
import type { Turns } from './http/turns.js';
import type { Usage } from './http/usage.js';
import type { JobStore } from './jobs/store.js';
import type { Runner } from './jobs/runner.js';
import type { MonitorScheduler } from './monitor/scheduler.js';
import type { Fetcher } from './pages/fetcher.js';
import type { Targets } from './targets.js';

export interface App {
  readonly store: JobStore;
  readonly fetcher: Fetcher;
  readonly runner: Runner;
  readonly monitors: MonitorScheduler;
  readonly turns: Turns;
  readonly targets: Targets;
  readonly usage: Usage;
  readonly model: AskModel | undefined;
  readonly searxng: string | undefined;
  readonly allowPrivate: readonly string[];
  readonly concurrency: number;
  readonly retentionMs: number;
  readonly version: string;
  /** A job was made or changed. */
  wake(id: string): void;
}
