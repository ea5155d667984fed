// prom-client against ours: a count, an observation, and a scrape of 16 workers with every metric of the catalogue.
import { best, load, source } from './from.mjs';

const { createMetricsHub } = await source('observe/metrics-hub.ts');
const { createMetrics } = await source('observe/metrics.ts');
const { METRICS } = await source('observe/metrics-catalogue.ts');
const prom = await load('prom-client');
const COUNTS = 2_000_000;
const nanoseconds = async (work) => (((await best(work)) * 1e6) / COUNTS).toFixed(1);
const times = (work) => () => {
  for (let i = 0; i < COUNTS; i++) work();
};

const ours = createMetrics();
const ourCounter = ours.counter('orcrawl_errors_total', { type: 'FETCH_TIMEOUT' });
const ourHistogram = ours.histogram('orcrawl_fetch_duration_seconds', {});
const counter = new prom.Counter({ name: 'a_total', help: 'a', labelNames: ['type'] }).labels({
  type: 'FETCH_TIMEOUT',
});
const { buckets } = METRICS.orcrawl_fetch_duration_seconds;
const histogram = new prom.Histogram({ name: 'b_seconds', help: 'b', buckets: [...buckets] });
console.log(
  'a count, ns: ours',
  await nanoseconds(times(() => ourCounter.add())),
  'prom-client',
  await nanoseconds(times(() => counter.inc())),
);
console.log(
  'an observation, ns: ours',
  await nanoseconds(times(() => ourHistogram.observe(0.3))),
  'prom-client',
  await nanoseconds(times(() => histogram.observe(0.3))),
);

const labelSets = ({ labels }) =>
  labels ? Array.from({ length: 10 }, (_, i) => Object.fromEntries(labels.map((label) => [label, `v${i}`]))) : [{}];
function ourWorker() {
  const metrics = createMetrics();
  for (const [name, kind] of Object.entries(METRICS)) {
    for (const labels of labelSets(kind)) {
      if (kind.type === 'counter') metrics.counter(name, labels).add(5);
      else if (kind.type === 'gauge') metrics.gauge(name, labels).set(3);
      else metrics.histogram(name, labels).observe(0.2);
    }
  }
  return metrics;
}
function promWorker() {
  const registry = new prom.Registry();
  for (const [name, kind] of Object.entries(METRICS)) {
    const options = { name, help: kind.help, labelNames: kind.labels ?? [], registers: [registry] };
    const made =
      kind.type === 'counter'
        ? new prom.Counter(options)
        : kind.type === 'gauge'
          ? new prom.Gauge(options)
          : new prom.Histogram({ ...options, buckets: [...kind.buckets] });
    for (const labels of labelSets(kind)) {
      if (kind.type === 'counter') made.inc(labels, 5);
      else if (kind.type === 'gauge') made.set(labels, 3);
      else made.observe(labels, 0.2);
    }
  }
  return registry;
}
const workers = Array.from({ length: 16 }, ourWorker);
const hub = createMetricsHub();
const ourScrape = await best(() => {
  workers.forEach((worker, i) => hub.put({ pod: i % 4, process: `fetcher_${i}`, life: 1 }, worker.snapshot()));
  return hub.render();
});
const registries = Array.from({ length: 16 }, promWorker);
const promScrape = await best(async () =>
  prom.AggregatorRegistry.aggregate(
    await Promise.all(registries.map((registry) => registry.getMetricsAsJSON())),
  ).metrics(),
);
console.log('a scrape of 16 workers, CPU-ms: ours', ourScrape.toFixed(1), 'prom-client', promScrape.toFixed(1));
const [registry] = registries;
console.log(
  'a worker’s message, bytes: ours',
  JSON.stringify(workers[0].snapshot()).length,
  'prom-client',
  JSON.stringify(await registry.getMetricsAsJSON()).length,
);
