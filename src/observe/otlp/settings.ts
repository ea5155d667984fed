// The environment variables of OpenTelemetry that are honoured, read once.

export interface TelemetrySettings {
  readonly tracesUrl: string;
  readonly metricsUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Share of visits with a trace, 0 to 1. */
  readonly ratio: number;
  /** Between two exports. */
  readonly everyMs: number;
  /** Of one export. */
  readonly timeoutMs: number;
}

/** A crawl makes thousands of visits a second: one in a hundred shows what they are like. */
const USUAL_RATIO = 0.01;
const USUAL_EVERY_MS = 5_000;
const USUAL_TIMEOUT_MS = 10_000;

type Env = Readonly<Record<string, string | undefined>>;

export function telemetrySettings(env: Env = process.env): TelemetrySettings {
  const base = (env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '').replace(/\/$/, '');
  return {
    tracesUrl: env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || `${base}/v1/traces`,
    metricsUrl: env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT || (base === '' ? '' : `${base}/v1/metrics`),
    headers: headersOf(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: env.OTEL_SERVICE_NAME || 'orcrawl',
    ratio: ratioOf(env.OTEL_TRACES_SAMPLER, env.OTEL_TRACES_SAMPLER_ARG),
    everyMs: positive(env.OTEL_BSP_SCHEDULE_DELAY, USUAL_EVERY_MS),
    timeoutMs: positive(env.OTEL_EXPORTER_OTLP_TIMEOUT, USUAL_TIMEOUT_MS),
  };
}

function ratioOf(sampler: string | undefined, argument: string | undefined): number {
  if (sampler?.endsWith('always_off')) return 0;
  if (sampler?.endsWith('always_on')) return 1;
  const ratio = Number(argument ?? NaN);
  return ratio >= 0 && ratio <= 1 ? ratio : USUAL_RATIO;
}

function positive(text: string | undefined, usual: number): number {
  const value = Number(text ?? NaN);
  return value > 0 && Number.isFinite(value) ? value : usual;
}

/** `name=value,name=value`, values percent-encoded. What is not a header is left out. */
function headersOf(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim().toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) continue;
    try {
      const value = decodeURIComponent(part.slice(at + 1).trim());
      if (/^[\x20-\x7e]*$/.test(value)) headers[name] = value;
    } catch {
      // A broken percent-encoding.
    }
  }
  return headers;
}
