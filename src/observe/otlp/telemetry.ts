// The telemetry of a process: a trace for some visits, counts and durations of all.
// Promise: no user, password, query or fragment of a URL leaves the process this way.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { TracedRequest, TraceStep, VisitTrace } from '../tracing.js';
import { attribute, type Attribute, createExporter, type ExporterOptions, type Span } from './exporter.js';
import { telemetrySettings, type TelemetrySettings } from './settings.js';

export interface Telemetry {
  visit(request: TracedRequest): VisitTrace;
  flush(limitMs?: number): Promise<void>;
  readonly dropped: number;
  close(): void;
}

/** Upper bounds of seconds. */
const BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const MAX_OUTCOMES = 100;

interface Durations {
  readonly outcome: string;
  readonly counts: number[];
  sum: number;
}

export function createTelemetry(
  settings: TelemetrySettings,
  { random = Math.random, ...exporting }: { random?: () => number } & Pick<ExporterOptions, 'fetch'> = {},
): Telemetry {
  const startedNano = nanoNow();
  const byOutcome = new Map<string, Durations>();
  const exporter = createExporter({
    ...exporting,
    settings,
    metrics: () => metricsNow(),
    resource: [
      attribute('service.name', settings.serviceName),
      attribute('service.instance.id', `${hostname()}:${process.pid}`),
      attribute('process.pid', process.pid),
    ],
  });

  function count(outcome: string, seconds: number): void {
    const name = byOutcome.has(outcome) || byOutcome.size < MAX_OUTCOMES ? outcome : 'other';
    let durations = byOutcome.get(name);
    if (!durations) {
      durations = { outcome: name, counts: Array.from({ length: BOUNDS.length + 1 }, () => 0), sum: 0 };
      byOutcome.set(name, durations);
    }
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    durations.counts[at === -1 ? BOUNDS.length : at]!++;
    durations.sum += seconds;
  }

  function metricsNow(): object[] {
    const times = { startTimeUnixNano: startedNano, timeUnixNano: nanoNow() };
    const dataPoints = [...byOutcome.values()].map(({ outcome, counts, sum }) => ({
      ...times,
      attributes: [attribute('orcrawl.outcome', outcome)],
      count: String(counts.reduce((all, one) => all + one, 0)),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: BOUNDS,
    }));
    const dropped = { ...times, asInt: String(exporter.dropped) };
    // 2: since the start.
    return [
      { name: 'orcrawl.visit.duration', unit: 's', histogram: { aggregationTemporality: 2, dataPoints } },
      {
        name: 'orcrawl.telemetry.dropped_spans',
        unit: '{span}',
        sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [dropped] },
      },
    ];
  }

  return {
    visit(request) {
      const startedMs = performance.now();
      const startedNano = nanoNow();
      let spans = random() < settings.ratio ? createSpans(request, startedNano) : undefined;
      let outcome = 'lost';
      return {
        get context() {
          return spans?.context;
        },
        follow(context) {
          // Whoever fetched the page decided whether there is a trace.
          const parent = parentIn(context);
          spans = parent && createSpans(request, startedNano, parent);
        },
        begin: (step) => spans?.begin(step),
        end: (step) => spans?.end(step),
        answered: (statusCode, wireBytes) => spans?.answered(statusCode, wireBytes),
        decided(kind, reason) {
          outcome = reason === undefined ? kind : `${kind} ${reason}`;
          spans?.decided(kind, reason);
        },
        settled(held) {
          count(held ? outcome : 'lost', (performance.now() - startedMs) / 1_000);
          if (spans) exporter.add(spans.settled(held));
        },
      };
    },
    flush: (limitMs) => exporter.flush(limitMs),
    get dropped() {
      return exporter.dropped;
    },
    close: () => exporter.close(),
  };
}

/** A trace, and a span of it. */
interface Parent {
  readonly traceId: string;
  readonly spanId: string;
}

function parentIn(context: string | undefined): Parent | undefined {
  const [, traceId, spanId] = /^00-([\da-f]{32})-([\da-f]{16})-01$/.exec(context ?? '') ?? [];
  return traceId !== undefined && spanId !== undefined ? { traceId, spanId } : undefined;
}

/** The spans of one visit; of one that another process began, the part that is done here. */
function createSpans({ url, method, retryCount }: TracedRequest, startTimeUnixNano: string, parent?: Parent) {
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
  const visitId = newSpanId();
  const done: Span[] = [];
  const open = new Map<TraceStep, { readonly id: string; readonly startedNano: string }>();
  // What was fetched elsewhere is taken from the folder between the processes.
  if (parent) open.set('fetch', { id: newSpanId(), startedNano: startTimeUnixNano });
  const answer: Attribute[] = [];
  const place = placeOf(url);
  let error: Span['status'];
  let decidedAs: Attribute[] = [];

  function end(step: TraceStep, failure?: Span['status']): void {
    const begun = open.get(step);
    if (!begun) return;
    open.delete(step);
    const isFetch = step === 'fetch' && !parent;
    const name = step !== 'fetch' ? step : parent ? 'take' : method;
    done.push({
      ...{ traceId, spanId: begun.id, parentSpanId: visitId },
      ...{ name, kind: isFetch ? 3 : 1 },
      ...{ startTimeUnixNano: begun.startedNano, endTimeUnixNano: nanoNow() },
      attributes: isFetch ? [attribute('http.request.method', method), ...place, ...answer] : [],
      ...(failure && { status: failure }),
    });
  }
  function begin(step: TraceStep): void {
    if (!open.has(step)) open.set(step, { id: newSpanId(), startedNano: nanoNow() });
  }

  return {
    context: `00-${traceId}-${visitId}-01`,
    begin,
    end,
    answered(statusCode: number, wireBytes: number): void {
      answer.splice(0, answer.length, attribute('http.response.status_code', statusCode));
      answer.push(attribute('http.response.body.size', wireBytes));
    },
    decided(kind: string, reason: string | undefined): void {
      // A step that is still open did not end as it should.
      for (const step of [...open.keys()]) end(step, { code: 2 });
      decidedAs = [attribute('orcrawl.outcome', kind)];
      if (reason !== undefined) decidedAs.push(attribute(kind === 'failed' ? 'error.type' : 'orcrawl.reason', reason));
      if (kind === 'failed') error = { code: 2, ...(reason !== undefined && { message: reason }) };
      begin('settle');
    },
    settled(held: boolean): Span[] {
      end('settle');
      const attributes = [...place, attribute('orcrawl.retry_count', retryCount), ...decidedAs];
      if (!held) attributes.push(attribute('orcrawl.lease', 'lost'));
      return [
        {
          ...{ traceId, spanId: visitId, name: parent ? 'parse' : 'visit', kind: 1 },
          ...(parent && { parentSpanId: parent.spanId }),
          ...{ startTimeUnixNano, endTimeUnixNano: nanoNow(), attributes },
          ...(error && { status: error }),
        },
        ...done,
      ];
    },
  };
}

const MAX_URL_CHARACTERS = 500;

/** Where a URL leads, without what may be secret in it. */
function placeOf(text: string): Attribute[] {
  try {
    const { protocol, hostname: host, port, pathname } = new URL(text);
    const full = `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname}`;
    return [
      attribute('url.full', full.slice(0, MAX_URL_CHARACTERS)),
      attribute('server.address', host),
      attribute('server.port', Number(port || (protocol === 'https:' ? 443 : 80))),
    ];
  } catch {
    return [];
  }
}

const newSpanId = (): string => randomBytes(8).toString('hex');

/** Microseconds are what the clock has. */
function nanoNow(): string {
  return `${Math.round((performance.timeOrigin + performance.now()) * 1_000)}000`;
}

let own: Telemetry | undefined;

/** The telemetry of this process, as its environment asks for it. */
export function telemetry(): Telemetry {
  return (own ??= createTelemetry(telemetrySettings()));
}
