// A chart of one or two lines over time, drawn as SVG: at most a few hundred points, so drawing is cheap, crisp at every
// size, and takes its colours from the style sheet.
// Promise: all charts of a view show the same moment under the pointer; without a pointer the newest value is shown.
import type { JSX } from 'preact';
import { useId, useMemo, useRef } from 'preact/hooks';
import { useSize } from './hooks.js';

export interface Line {
  readonly label: string;
  readonly values: readonly number[];
}

export interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, ascending; one per value. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Which moment is under the pointer, in any chart. */
  readonly at: number | undefined;
  readonly onAt: (index: number | undefined) => void;
}

const HEIGHT = 96;
const TOP = 8;
const BOTTOM = 4;

export function Chart({ title, times, lines, format, at, onAt }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const id = useId();
  const first = times[0] ?? 0;
  const span = Math.max(1, (times.at(-1) ?? 1) - first);
  const most = useMemo(() => niceMost(Math.max(...lines.flatMap(({ values }) => [0, ...values]))), [lines]);
  const x = (index: number): number => (width * ((times[index] ?? 0) - first)) / span;
  const y = (value: number): number => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / most;
  const paths = useMemo(
    () =>
      lines.map(({ values }) => {
        const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
        return points.length > 1 ? `M${points.join('L')}` : '';
      }),
    [lines, times, width, most],
  );
  const shown = at ?? times.length - 1;
  const now = lines.map(({ label, values }) => `${label} ${format(values[shown] ?? 0)}`).join(', ');

  function point(event: PointerEvent): void {
    const left = box.current!.getBoundingClientRect().left;
    const time = first + (span * (event.clientX - left)) / Math.max(1, width);
    onAt(nearest(times, time));
  }

  return (
    <figure class="chart" aria-label={`${title}: ${now}`} role="group">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-values">
          {lines.map(({ label, values }, index) => (
            <span key={label} class={`value line-${index}`}>
              {lines.length > 1 && <span class="key">{label}</span>}
              {times.length === 0 ? '–' : format(values[shown] ?? 0)}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot" ref={box} onPointerMove={point} onPointerDown={point} onPointerLeave={() => onAt(undefined)}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
            <defs>
              <linearGradient id={id} x1="0" x2="0" y1="0" y2="1">
                <stop class="fade-from" offset="0" />
                <stop class="fade-to" offset="1" />
              </linearGradient>
            </defs>
            <path class="grid" d={`M0 ${y(most)}H${width}M0 ${y(most / 2)}H${width}M0 ${y(0)}H${width}`} />
            {paths[0] !== '' && <path d={`${paths[0]}V${y(0)}H${x(0)}Z`} fill={`url(#${id})`} />}
            {paths.map((path, index) => (
              <path key={index} class={`line line-${index}`} d={path} />
            ))}
            {at !== undefined && times[at] !== undefined && (
              <g>
                <path class="cross" d={`M${x(at)} 0V${HEIGHT}`} />
                {lines.map(({ values }, index) => (
                  <circle key={index} class={`dot line-${index}`} cx={x(at)} cy={y(values[at] ?? 0)} r="3.5" />
                ))}
              </g>
            )}
          </svg>
        )}
        <span class="most">{times.length > 0 && format(most)}</span>
        {times.length < 2 && <span class="no-data">Collecting…</span>}
      </div>
      <div class="ends" aria-hidden="true">
        <span>{times.length > 1 ? clock(first) : ''}</span>
        <span>{at !== undefined && times[at] !== undefined ? clock(times[at]) : ''}</span>
        <span>{times.length > 1 ? clock(first + span) : ''}</span>
      </div>
    </figure>
  );
}

/** A round number well above the value: a line at its highest does not run behind the label. */
export function niceMost(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power > value * 1.05) ?? 15) * power;
}

function nearest(times: readonly number[], time: number): number | undefined {
  let low = 0;
  let high = times.length - 1;
  if (high < 0) return undefined;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle]! < time) low = middle;
    else high = middle;
  }
  return time - times[low]! < times[high]! - time ? low : high;
}

const clock = (secs: number): string =>
  new Date(secs * 1000).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });
