// The six charts of a job, from its samples.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { bytesText, countText, rateText } from '../../observe/figures.js';
import { SAMPLE, type Sample } from '../../serve/console/wire.js';
import { Chart, type Line } from '../chart.js';
import { msText } from '../text.js';

export function Charts({ samples }: { samples: readonly Sample[] }): JSX.Element {
  const [at, setAt] = useState<number | undefined>(undefined);
  const series = useMemo(() => seriesOf(samples), [samples]);
  const common = { times: series.times, at, onAt: setAt };
  return (
    <section class="charts" aria-label="Charts" tabIndex={0}>
      <Chart {...common} title="Pages per second" lines={series.pages} format={rateText} />
      <Chart {...common} title="Load time" lines={series.loads} format={loadText} />
      <Chart {...common} title="Received per second" lines={series.bytes} format={bytesText} />
      <Chart {...common} title="Queue" lines={series.queue} format={countText} />
      <Chart {...common} title="Pages at once" lines={series.active} format={countText} />
      <Chart {...common} title="Memory" lines={series.memory} format={(value) => bytesText(value * 1e6)} />
    </section>
  );
}

function seriesOf(samples: readonly Sample[]) {
  const column = (name: keyof typeof SAMPLE): number[] => samples.map((sample) => sample[SAMPLE[name]] ?? 0);
  const times = column('atSecs');
  const ended = samples.map((sample) => (sample[SAMPLE.done] ?? 0) + (sample[SAMPLE.failed] ?? 0));
  const line = (label: string, values: number[]): Line[] => [{ label, values }];
  return {
    times,
    pages: line('pages', perSecond(times, ended)),
    loads: [
      { label: 'half', values: lastKnown(column('p50')) },
      { label: '95 %', values: lastKnown(column('p95')) },
    ],
    bytes: line('bytes', perSecond(times, column('bytes'))),
    queue: line('waiting', column('queued')),
    active: line('pages', column('active')),
    memory: line('memory', column('memory')),
  };
}

const loadText = (ms: number): string => (ms > 0 ? msText(ms) : '–');

/** Between two samples without a page nothing took any time: the time before stands, and before all the first one. */
function lastKnown(values: readonly number[]): number[] {
  let known = values.find((value) => value > 0) ?? 0;
  return values.map((value) => (known = value > 0 ? value : known));
}

/** How fast a total grew between two samples; a total that fell began anew. */
function perSecond(times: readonly number[], totals: readonly number[]): number[] {
  return totals.map((total, index) => {
    const other = index === 0 ? 1 : index - 1;
    const secs = Math.abs((times[index] ?? 0) - (times[other] ?? 0));
    const grown = Math.abs(total - (totals[other] ?? total));
    return secs > 0 && (index === 0 || total >= totals[other]!) ? grown / secs : 0;
  });
}
