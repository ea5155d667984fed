// Delivers the events of jobs to their webhooks: in order, at least once, across restarts, and to public addresses only.
// Promise: an event is tried at once and after 1, 5 and 15 minutes; then it is given up, and the next one is due.
import { createHmac } from 'node:crypto';
import { createHttpEngine } from '../../fetch/http/engine.js';
import type { Log } from '../../observe/log.js';
import type { Job, JobEvent, JobStore } from '../jobs/store.js';
import { checkEvent } from '../monitor/answers.js';

export interface WebhookOptions {
  readonly store: JobStore;
  readonly allowPrivate: readonly string[];
  /** Signs every body. */
  readonly secret: string;
  readonly log: Log;
  /** After each failed try. */
  readonly retryAfterMs?: readonly number[];
  readonly clock?: WebhookClock;
  /** Which of several servers delivers for a job now. */
  readonly claim?: ((id: string) => Promise<boolean>) | undefined;
}

/** Passed in, so that tests need not wait for minutes. */
export interface WebhookClock {
  nowMs(): number;
  /** Calls again and again; the returned function ends it. */
  every(ms: number, call: () => void): () => void;
}

const SYSTEM_CLOCK: WebhookClock = {
  nowMs: () => Date.now(),
  every(ms, call) {
    const timer = setInterval(call, ms);
    return () => clearInterval(timer);
  },
};

export interface Webhooks {
  /** A job has new events, perhaps. */
  wake(id: string): void;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const RETRY_AFTER_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];
const TRY_MS = 10_000;
const LOOK_MS = 1_000;
const MAX_AT_ONCE = 50;
const MAX_ANSWER_BYTES = 100_000;

export function createWebhooks(options: WebhookOptions): Webhooks {
  const { store, log, retryAfterMs = RETRY_AFTER_MS, clock = SYSTEM_CLOCK } = options;
  const engine = createHttpEngine({ allowPrivateAddresses: options.allowPrivate });
  const busy = new Map<string, Promise<void>>();
  /** Jobs that were told of while they were busy. */
  const awake = new Set<string>();
  const closing = new AbortController();

  function wake(id: string): void {
    awake.add(id);
    start();
  }

  function start(): void {
    for (const id of awake) {
      if (closing.signal.aborted || busy.size >= MAX_AT_ONCE) return;
      if (busy.has(id)) continue;
      awake.delete(id);
      const work = deliverAll(id)
        .catch((error: unknown) => log.error(`Webhooks of job ${id} failed: ${(error as Error).message}`))
        .finally(() => {
          busy.delete(id);
          start();
        });
      busy.set(id, work);
    }
  }

  async function deliverAll(id: string): Promise<void> {
    while (!closing.signal.aborted) {
      const job = await store.read(id);
      const delivery = job?.delivery;
      if (!job?.webhook || !delivery || delivery.next >= job.events || delivery.dueAtMs > clock.nowMs()) return;
      if (options.claim && !(await options.claim(id))) return;
      const event = await store.pages.event(id, delivery.next);
      const isDone = event === undefined || (await deliver(job, event));
      if (closing.signal.aborted && !isDone) return;
      const waitMs = retryAfterMs[delivery.tries];
      const isOver = isDone || waitMs === undefined;
      if (isOver && !isDone)
        log.warning(`Webhook event ${delivery.next} of job ${id} was given up after the last retry`);
      await store.change(id, () => ({
        delivery: isOver
          ? { next: delivery.next + 1, tries: 0, dueAtMs: 0 }
          : { ...delivery, tries: delivery.tries + 1, dueAtMs: clock.nowMs() + waitMs },
      }));
    }
  }

  async function deliver(job: Job, event: JobEvent): Promise<boolean> {
    const body = await bodyOf(job, event);
    const signature = createHmac('sha256', options.secret).update(body).digest('hex');
    try {
      return await engine.visit(
        {
          url: job.webhook!.url,
          method: 'POST',
          headers: {
            ...job.webhook!.headers,
            'content-type': 'application/json',
            'user-agent': 'orcrawl-webhook',
            'x-firecrawl-signature': `sha256=${signature}`,
          },
          payload: body,
          redirects: 'report',
          maxRedirects: 0,
          timeoutMs: TRY_MS,
          maxBodyBytes: MAX_ANSWER_BYTES,
          ignoreTlsErrors: false,
          signal: closing.signal,
        },
        async ({ statusCode }) => statusCode >= 200 && statusCode < 300,
      );
    } catch (error) {
      log.debug(`Webhook of job ${job.id}: ${(error as Error).message}`);
      return false;
    }
  }

  async function bodyOf(job: Job, { type, result, error }: JobEvent): Promise<string> {
    const found =
      result === undefined ? undefined : await store.pages.results(job.id, result, { maxItems: 1, maxBytes: 1 });
    const told = job.kind === 'check' ? checkEvent(job, found?.documents[0]) : undefined;
    const name = job.kind === 'batch' ? 'batch_scrape' : job.kind;
    const head = JSON.stringify({
      success: told?.success ?? type !== 'failed',
      type: told?.type ?? `${name}.${type}`,
      id: job.id,
      webhookId: job.webhookId,
      metadata: job.webhook!.metadata ?? {},
      ...(error !== undefined && { error }),
    });
    return `${head.slice(0, -1)},"data":[${told?.data ?? found?.documents[0] ?? ''}]}`;
  }

  async function look(): Promise<void> {
    for (const { id, webhook, delivery, events } of await store.list()) {
      if (webhook && delivery && delivery.next < events && delivery.dueAtMs <= clock.nowMs()) awake.add(id);
    }
    start();
  }
  const endLooking = clock.every(LOOK_MS, () => void look().catch(() => undefined));

  return {
    wake,
    async close() {
      endLooking();
      closing.abort();
      await Promise.all(busy.values());
      await engine.close();
    },
  };
}
