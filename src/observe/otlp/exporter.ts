// Sends spans and metrics to a collector: OTLP as JSON over HTTP, written by hand (docs/decisions/048).
// Promise: the queue is bounded, one export is on its way at a time, what does not fit or arrive is dropped and counted.
import type { TelemetrySettings } from './settings.js';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1: internal, 3: client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  /** 2: error. */
  readonly status?: { readonly code: 2; readonly message?: string };
}

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

export interface Exporter {
  add(spans: readonly Span[]): void;
  /** Sends what waits; resolves when it was sent or dropped, at the latest after `limitMs`, or two timeouts. */
  flush(limitMs?: number): Promise<void>;
  /** Spans that never arrived. */
  readonly dropped: number;
  close(): void;
}

export interface ExporterOptions {
  readonly settings: TelemetrySettings;
  readonly resource: readonly Attribute[];
  /** The metrics of now, sent with every export. */
  readonly metrics?: () => readonly object[];
  readonly fetch?: typeof fetch;
}

/** About 1 MB: what does not fit is dropped. */
const MAX_WAITING = 2_048;
const MAX_BATCH = 512;

export function attribute(key: string, value: string | number): Attribute {
  return typeof value === 'number'
    ? { key, value: { intValue: String(value) } }
    : { key, value: { stringValue: value } };
}

export function createExporter({ settings, resource, metrics, fetch: send = fetch }: ExporterOptions): Exporter {
  let waiting: Span[] = [];
  let dropped = 0;
  let exporting: Promise<void> | undefined;
  /** Ends exports that are on their way when a flush takes too long. */
  let limit = new AbortController();
  const scope = { name: 'orcrawl' };
  const beat = setInterval(() => void flush(), settings.everyMs);
  // Telemetry keeps no process alive.
  beat.unref();

  async function post(url: string, body: object): Promise<boolean> {
    // A timer of our own: Node 20 may collect `AbortSignal.timeout` within `AbortSignal.any`, and it never fires.
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const timer = setTimeout(end, settings.timeoutMs);
    timer.unref();
    const { signal } = limit;
    signal.addEventListener('abort', end);
    try {
      signal.throwIfAborted();
      const response = await send(url, {
        method: 'POST',
        headers: { ...settings.headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: ending.signal,
      });
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  async function exportAll(): Promise<void> {
    // What is added meanwhile waits for the next export: this one ends.
    const endMs = performance.now() + settings.timeoutMs;
    for (let batches = Math.ceil(waiting.length / MAX_BATCH); batches > 0; batches--) {
      const spans = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(spans.length);
      const isLate = performance.now() > endMs || limit.signal.aborted;
      const body = { resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope, spans }] }] };
      if (isLate || !(await post(settings.tracesUrl, body))) dropped += spans.length;
    }
    const now = metrics?.() ?? [];
    if (now.length === 0 || settings.metricsUrl === '') return;
    const body = { resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics: [{ scope, metrics: now }] }] };
    await post(settings.metricsUrl, body);
  }

  function flush(): Promise<void> {
    exporting ??= exportAll().finally(() => (exporting = undefined));
    return exporting;
  }

  return {
    add(spans) {
      if (waiting.length + spans.length > MAX_WAITING) {
        dropped += spans.length;
        return;
      }
      waiting.push(...spans);
      if (waiting.length >= MAX_BATCH) void flush();
    },
    async flush(limitMs) {
      const ending = limitMs === undefined ? undefined : setTimeout(() => limit.abort(), limitMs);
      // One that is on its way may have started without the last spans.
      await exporting;
      await flush();
      clearTimeout(ending);
      if (limit.signal.aborted) limit = new AbortController();
    },
    get dropped() {
      return dropped;
    },
    close: () => clearInterval(beat),
  };
}
