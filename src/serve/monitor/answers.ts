// Monitors and checks as the API answers with them and as webhooks tell of them.
import type { Job } from '../jobs/store.js';
import { type CheckRequest, type Monitor, noPages } from './monitor.js';

const timeOf = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

export function monitorAnswer(monitor: Monitor): Record<string, unknown> {
  const { id, name, status, schedule, targets, webhook, retentionDays } = monitor;
  return {
    ...{ id, name, status, schedule, targets, retentionDays },
    nextRunAt: timeOf(monitor.nextRunAtMs),
    lastRunAt: timeOf(monitor.lastRunAtMs),
    currentCheckId: monitor.currentCheckId ?? null,
    webhook: webhook ?? null,
    notification: null,
    estimatedCreditsPerMonth: null,
    lastCheckSummary: monitor.lastCheckSummary ?? null,
    goal: null,
    judgeEnabled: false,
    createdAt: timeOf(monitor.createdAtMs),
    updatedAt: timeOf(monitor.updatedAtMs),
  };
}

export function checkAnswer(check: Job, isRunning: boolean): Record<string, unknown> {
  const { id, summary, createdAtMs, endedAtMs, completed, reason } = check;
  const { monitorId, trigger, scheduledForMs, targets } = check.request as CheckRequest;
  const status = checkStatus(check, isRunning);
  return {
    ...{ id, monitorId, status, trigger },
    scheduledFor: timeOf(scheduledForMs),
    startedAt: status === 'queued' ? null : timeOf(createdAtMs),
    finishedAt: timeOf(endedAtMs),
    estimatedCredits: null,
    reservedCredits: null,
    actualCredits: completed,
    billingStatus: 'not_applicable',
    summary: summary ?? { ...noPages(), totalPages: completed },
    targetResults: targets.map((target) => ({ targetId: target.id, type: target.type })),
    error: reason ?? (status === 'failed' ? 'No page could be read.' : null),
    createdAt: timeOf(createdAtMs),
    updatedAt: timeOf(endedAtMs ?? createdAtMs),
  };
}

type CheckStatus = 'queued' | 'running' | 'completed' | 'partial' | 'failed';

function checkStatus({ status, rows, summary = noPages() }: Job, isRunning: boolean): CheckStatus {
  if (status === 'scraping') return isRunning || rows > 0 ? 'running' : 'queued';
  if (status !== 'completed' || summary.error === summary.totalPages) return 'failed';
  return summary.error > 0 ? 'partial' : 'completed';
}

/** What a webhook is told of a check: one of its pages, or its end. */
export function checkEvent(check: Job, page?: string): { type: string; success: boolean; data: string } {
  const { monitorId } = check.request as CheckRequest;
  const head = { monitorId, checkId: check.id };
  if (page !== undefined) {
    const { status, ...rest } = JSON.parse(page) as { status: string };
    const data = JSON.stringify({ ...head, ...rest, status });
    return { type: 'monitor.page', success: status !== 'error', data };
  }
  const status = checkStatus(check, false);
  const data = JSON.stringify({ ...head, status, summary: check.summary ?? noPages() });
  return { type: 'monitor.check.completed', success: status === 'completed', data };
}
