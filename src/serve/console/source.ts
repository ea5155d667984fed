// PORT. What the console shows and changes: the jobs of a server, or the one crawl of a command.
// Promise: it reads the job store and the figures that terminals and metrics read; it keeps no numbers of its own.
import type { ProgressFigures } from '../../observe/progress.js';
import type { Token } from '../http/tokens.js';
import type { Job, JobStore } from '../jobs/store.js';
import type { PodView, ServerView } from './wire.js';

export type LiveFigures = Pick<ProgressFigures, 'queued' | 'concurrency'>;

export interface ConsoleSource {
  readonly mode: ServerView['mode'];
  readonly version: string;
  /** Pages can be loaded in a browser here. */
  readonly browser: boolean;
  readonly store: Pick<JobStore, 'read' | 'list' | 'rows' | 'pages'>;
  /** Where histories are kept. */
  readonly folder: string;
  /** What waits and what is under way, of a job that runs in this process. */
  live(id: string): Promise<LiveFigures | undefined>;
  readonly pods?: () => readonly PodView[];
  /** The built page, when it is not beside this code. */
  readonly pageFolder?: URL | undefined;
  readonly actions: ConsoleActions;
}

/** What may be done to a job; what is missing cannot be done here. */
export interface ConsoleActions {
  readonly cancel?: (job: Job) => Promise<void>;
  /** Lets a cancelled job go on where it was. */
  readonly resume?: (job: Job) => Promise<void>;
  /** Fetches again what failed, as a job of its own; resolves to its id. */
  readonly retry?: (job: Job, token: Token, signal: AbortSignal) => Promise<string>;
}
