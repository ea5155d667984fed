// Where a visit meets OpenTelemetry: on only if OTEL_EXPORTER_OTLP_ENDPOINT is set when the process starts.
// Promise: without it nothing is loaded and a visit pays one comparison; with it a collector can neither slow nor fail one.

/** The steps of a visit, as spans below its own. */
export type TraceStep = 'fetch' | 'handler' | 'settle';

export interface VisitTrace {
  /** Names the trace and its visit to the process that finishes it (W3C traceparent); undefined if there is no trace. */
  readonly context: string | undefined;
  /** Another process fetched the page: this visit goes on with its trace, if it has one. */
  follow(context: string | undefined): void;
  begin(step: TraceStep): void;
  end(step: TraceStep): void;
  /** A response has come. */
  answered(statusCode: number, wireBytes: number): void;
  /** The visit has its outcome; what follows is the settling. */
  decided(outcome: string, reason: string | undefined): void;
  /** It is in the queue, or its lease was lost. */
  settled(held: boolean): void;
}

const SETTINGS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

export const isTracing = SETTINGS.some((name) => (process.env[name] ?? '') !== '');

/** What a trace says of the request. */
export interface TracedRequest {
  readonly url: string;
  readonly method: string;
  readonly retryCount: number;
}

/** Call only if `isTracing`. */
export async function traceVisit(request: TracedRequest): Promise<VisitTrace> {
  const { telemetry } = await import('./otlp/telemetry.js');
  return telemetry().visit(request);
}

/** A collector that does not answer holds up the end of a run for no longer. */
const LAST_FLUSH_MS = 3_000;

/** Sends what waits, for a bounded time. */
export async function flushTraces(limitMs = LAST_FLUSH_MS): Promise<void> {
  if (!isTracing) return;
  const { telemetry } = await import('./otlp/telemetry.js');
  await telemetry().flush(limitMs);
}
