// The dispatcher of `orcrawl batch`: how many URLs at once, and how fast a domain is asked.
import type { TaskMonitor } from '../../dispatch/dispatcher.js';
import { MemoryAdaptiveDispatcher, RateLimiter } from '../../index.js';

export interface DispatcherSettings {
  readonly permits: number;
  readonly memoryThresholdPercent?: number | undefined;
  /** Seconds. */
  readonly delay?: readonly [number, number] | undefined;
}

export function dispatcherOf(settings: DispatcherSettings, monitor: TaskMonitor | undefined): MemoryAdaptiveDispatcher {
  const { permits, memoryThresholdPercent } = settings;
  return new MemoryAdaptiveDispatcher({
    maxSessionPermit: permits,
    memoryThresholdPercent,
    rateLimiter: limiterOf(settings),
    monitor,
  });
}

export function limiterOf({ delay }: DispatcherSettings): RateLimiter | undefined {
  return delay && new RateLimiter({ baseDelayMs: [delay[0] * 1000, delay[1] * 1000] });
}
