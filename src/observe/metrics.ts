// The metrics of a process, and the small snapshot sent to the process that serves the endpoint.
// Promise: counting is one addition; a label with endless new values cannot fill memory.
import { kindOf } from './metrics-catalogue.js';
import type { CounterName, GaugeName, HistogramName, LabelsOf, MetricName } from './metrics-catalogue.js';

export interface Counter {
  /** @param by 0 or more; default 1. */
  add(by?: number): void;
}

export interface Gauge {
  set(value: number): void;
}

export interface Histogram {
  observe(value: number): void;
}

/** Counts in each bucket, the last one above all bounds, and the sum of the values. */
export interface Distribution {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** One line of a snapshot: the metric, the values of its labels in the catalogue's order, and where it stands. */
export type Series = readonly [name: MetricName, labels: readonly string[], value: number | Distribution];

/** Plain data: fit for a process channel. */
export type MetricsSnapshot = readonly Series[];

/** Keep what these return: looking up a series costs more than counting. */
export interface Metrics {
  counter<Name extends CounterName>(name: Name, labels: LabelsOf<Name>): Counter;
  /** With `read`, the value is read at each snapshot. */
  gauge<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, read?: () => number): Gauge;
  histogram<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>): Histogram;
  /** Takes a counter's value from elsewhere, such as the system. */
  total<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, read: () => number): void;
  snapshot(): MetricsSnapshot;
}

/** There are a few dozen error codes; targets are pods. Further values count as `other`. */
const MAX_SERIES_A_METRIC = 1_024;
const MAX_LABEL_LENGTH = 200;

interface Cell {
  readonly name: MetricName;
  readonly labels: readonly string[];
  value: number;
  counts?: number[];
  read?: () => number;
}

/**
 * The metrics of one process.
 *
 * @example
 * const metrics = createMetrics();
 * const pages = metrics.counter('orcrawl_pages_crawled_total', {});
 * pages.add();
 * process.send?.({ metrics: metrics.snapshot() });
 */
export function createMetrics(): Metrics {
  const cells = new Map<MetricName, Map<string, Cell>>();

  function cellOf(name: MetricName, labels: Readonly<Record<string, string>>): Cell {
    const wanted = kindOf(name).labels ?? [];
    let values = wanted.map((label) => String(labels[label]).slice(0, MAX_LABEL_LENGTH));
    let series = cells.get(name);
    if (!series) cells.set(name, (series = new Map()));
    let key = values.join('\0');
    if (!series.has(key) && series.size >= MAX_SERIES_A_METRIC) {
      values = wanted.map(() => 'other');
      key = values.join('\0');
    }
    let cell = series.get(key);
    if (!cell) series.set(key, (cell = { name, labels: values, value: 0 }));
    return cell;
  }

  return {
    counter(name, labels) {
      const cell = cellOf(name, labels);
      return {
        add(by = 1) {
          if (by > 0) cell.value += by;
        },
      };
    },
    gauge(name, labels, read) {
      const cell = cellOf(name, labels);
      if (read) cell.read = read;
      return {
        set(value) {
          cell.value = value;
        },
      };
    },
    total(name, labels, read) {
      cellOf(name, labels).read = read;
    },
    histogram(name, labels) {
      const cell = cellOf(name, labels);
      const bounds = kindOf(name).buckets!;
      const counts = (cell.counts ??= Array.from({ length: bounds.length + 1 }, () => 0));
      return {
        observe(value) {
          if (!Number.isFinite(value)) return;
          let at = 0;
          while (at < bounds.length && value > bounds[at]!) at++;
          counts[at]!++;
          cell.value += value;
        },
      };
    },
    snapshot() {
      const list: Series[] = [];
      for (const series of cells.values()) for (const cell of series.values()) list.push(reading(cell));
      return list;
    },
  };
}

function reading(cell: Cell): Series {
  const { name, labels, counts } = cell;
  if (counts) return [name, labels, { counts: [...counts], sum: cell.value }];
  if (cell.read) {
    // A reader that fails keeps the last value: metrics never end a process.
    try {
      cell.value = cell.read();
    } catch {
      return [name, labels, cell.value];
    }
  }
  return [name, labels, cell.value];
}
