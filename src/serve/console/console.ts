// The console behind one port: its files, its stream of events, its lists, its actions.
// Promise: without a token there is nothing but the page's own files; a token sees its own jobs only.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS, limitReached } from '../../limits.js';
import { ApiError } from '../errors.js';
import type { Answer, Call, Route } from '../http/router.js';
import type { Job, Outcome } from '../jobs/store.js';
import { type Channel, createChannel } from './channel.js';
import { createDownloads, DOWNLOADS, isFormat } from './downloads.js';
import { createPageFiles } from './files.js';
import { createFold, type Fold } from './fold.js';
import { domainsAnswer, pageAnswer, rowsAnswer } from './pages.js';
import { createSampler } from './sampler.js';
import type { ConsoleSource } from './source.js';
import { actionsFor, jobsTopic, jobTopic, maySee } from './topics.js';
import type { JobAction } from './wire.js';

export interface Console {
  readonly routes: readonly Route[];
  /** Answers what needs no token; false when it is not the console's. */
  open(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean>;
  /** Outcomes of a job were kept in this process. */
  note(id: string, outcomes: readonly Outcome[]): void;
  readonly watchers: number;
  /** Sends watchers the last state, then ends their streams. */
  close(): Promise<void>;
}

/** Figures of jobs that nobody watches now: to be shown at once when somebody comes back. */
const MAX_FOLDS = 20;

export function openConsole(source: ConsoleSource): Console {
  const startedAtMs = Date.now();
  const sampler = createSampler(source);
  const files = createPageFiles(source.pageFolder);
  const downloads = createDownloads(source);
  const channels = new Map<string, Channel>();
  const folds = new Map<string, Fold>();
  let closing: Promise<void> | undefined;
  const watching = (): number => [...channels.values()].reduce((sum, { watchers }) => sum + watchers, 0);

  function foldOf(id: string): Fold {
    const fold = folds.get(id) ?? createFold(source.store, id);
    folds.delete(id);
    folds.set(id, fold);
    for (const other of folds.keys()) {
      if (folds.size <= MAX_FOLDS) break;
      if (!channels.has(`job ${other}`)) folds.delete(other);
    }
    return fold;
  }

  function channelOf(key: string, make: () => Parameters<typeof createChannel>[0]['topic']): Channel {
    let channel = channels.get(key);
    if (!channel) {
      channel = createChannel({ topic: make(), onEmpty: () => channels.delete(key) });
      channels.set(key, channel);
    }
    return channel;
  }

  async function events(call: Call): Promise<Answer> {
    const { response, token, url } = call;
    if (watching() >= LIMITS.watchers.max) {
      limitReached('watchers');
      throw new ApiError(429, 'Too many are watching already. Try again later.', 'TOO_MANY_REQUESTS');
    }
    const id = url.searchParams.get('job');
    const job = id === null ? undefined : await jobOf(call, id);
    const channel = job
      ? channelOf(`job ${job.id}`, () => jobTopic(source, sampler, job.id, foldOf(job.id)))
      : channelOf(`jobs ${token.name}`, () => jobsTopic(source, sampler, token, startedAtMs));
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const lastId = call.request.headers['last-event-id'];
    await channel.watch(response, typeof lastId === 'string' ? lastId.slice(0, 100) : undefined);
    return 'written';
  }

  async function jobOf({ token }: Pick<Call, 'token'>, id: string): Promise<Job> {
    const job = /^[\w-]{1,100}$/.test(id) ? await source.store.read(id) : undefined;
    if (!job || !maySee(job, token)) {
      throw new ApiError(404, 'There is no such job. It may have expired.', 'JOB_NOT_FOUND');
    }
    return job;
  }

  async function act(call: Call, job: Job): Promise<Answer> {
    const action = call.params.action as JobAction;
    if (!actionsFor(job, source).includes(action)) {
      throw new ApiError(409, `The job cannot be changed in this way now: it is ${job.status}.`, 'JOB_ENDED');
    }
    const { cancel, resume, retry } = source.actions;
    if (action === 'cancel') await cancel!(job);
    else if (action === 'resume') await resume!(job);
    else return { json: { success: true, id: await retry!(job, call.token, call.signal) } };
    return { json: { success: true, id: job.id } };
  }

  async function download(call: Call, job: Job): Promise<Answer> {
    const { format } = ((await call.json()) ?? {}) as { format?: unknown };
    if (!isFormat(format)) throw new ApiError(400, 'format: use jsonl, csv or zip.');
    return { json: { success: true, path: downloads.ticket(job.id, format) } };
  }

  async function close(): Promise<void> {
    await sampler.close().catch(() => undefined);
    for (const channel of channels.values()) await channel.flush();
    for (const channel of channels.values()) channel.close();
  }

  const ofJob = (handle: (call: Call, job: Job) => Promise<Answer>) => async (call: Call) =>
    handle(call, await jobOf(call, call.params.id ?? ''));
  const at = '/console/jobs/:id';

  return {
    routes: [
      { method: 'GET', path: '/events', handle: events },
      { method: 'GET', path: `${at}/pages`, handle: ofJob((call, job) => rowsAnswer(source, job, call)) },
      {
        method: 'GET',
        path: `${at}/pages/:place`,
        handle: ofJob((call, job) => pageAnswer(source, job, call.params.place ?? '')),
      },
      {
        method: 'GET',
        path: `${at}/domains`,
        handle: ofJob(async (call, job) => {
          const fold = foldOf(job.id);
          await fold.follow();
          return domainsAnswer(fold, call);
        }),
      },
      { method: 'POST', path: `${at}/download`, handle: ofJob(download) },
      { method: 'POST', path: `${at}/do/:action`, handle: ofJob(act) },
    ],
    async open(request, response, path) {
      if (files.serve(request, response, path)) return true;
      if (request.method !== 'GET' || !path.startsWith(DOWNLOADS)) return false;
      await downloads.serve(path.slice(DOWNLOADS.length), response);
      return true;
    },
    note: sampler.note,
    get watchers() {
      return watching();
    },
    close: () => (closing ??= close()),
  };
}
