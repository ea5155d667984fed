// What SDKs ask about the account: there is none here, so limits and use of this server are the answer.
import type { App } from '../app.js';
import type { Handle } from '../http/router.js';

/** Unlimited is a number, too, for clients that count with it. */
const PLENTY = 1_000_000_000;

export function concurrencyRoute(app: App): Handle {
  return async () => {
    const busy = app.turns.active + app.runner.running.size;
    return {
      json: {
        success: true,
        concurrency: busy,
        maxConcurrency: app.concurrency,
        data: { concurrency: busy, maxConcurrency: app.concurrency },
      },
    };
  };
}

export function creditRoute(app: App): Handle {
  return async ({ token }) => {
    const left = Math.min(PLENTY, await app.usage.left(token));
    const plan = Math.min(PLENTY, token.pagesPerDay);
    const data = { remainingCredits: left, remaining_credits: left, planCredits: plan, plan_credits: plan };
    return { json: { success: true, data: { ...data, ...NO_PERIOD } } };
  };
}

export function tokenUsageRoute(): Handle {
  return async () => {
    const data = { remainingTokens: PLENTY, remaining_tokens: PLENTY, planTokens: PLENTY, plan_tokens: PLENTY };
    return { json: { success: true, data: { ...data, ...NO_PERIOD } } };
  };
}

const NO_PERIOD = {
  billingPeriodStart: null,
  billing_period_start: null,
  billingPeriodEnd: null,
  billing_period_end: null,
};

export function historyRoute(): Handle {
  return async () => ({ json: { success: true, periods: [] } });
}

export function queueRoute(app: App): Handle {
  return async ({ token }) => {
    const jobs = (await app.store.list()).filter((job) => job.status === 'scraping' && job.owner === token.name);
    const active = jobs.filter((job) => app.runner.running.has(job.id)).length;
    const waiting = jobs.length - active + app.turns.waiting;
    const busy = active + app.turns.active;
    return {
      json: {
        success: true,
        jobsInQueue: busy + waiting,
        activeJobsInQueue: busy,
        waitingJobsInQueue: waiting,
        maxConcurrency: app.concurrency,
        mostRecentSuccess: null,
      },
    };
  };
}
