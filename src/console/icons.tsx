// The icons of the console, drawn on a grid of 20: lines of one width, in the colour of the text.
import type { JSX } from 'preact';

const PATHS = {
  jobs: 'M3 5.5h14M3 10h14M3 14.5h9',
  pods: 'M3.5 4h13v4.5h-13zM3.5 11.5h13V16h-13zM6.5 6.25h.01M6.5 13.75h.01',
  plus: 'M10 4v12M4 10h12',
  close: 'm5 5 10 10M15 5 5 15',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM13 13l4 4',
  stop: 'M6 6h8v8H6z',
  play: 'M7 5v10l8-5z',
  retry: 'M4.5 10a5.5 5.5 0 1 0 1.8-4.1M4.5 3.5V7H8',
  download: 'M10 3v9.5m0 0 3.5-3.5M10 12.5 6.5 9M4 16.5h12',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  alert: 'M10 3.5 2.8 16h14.4zM10 8.5v3.2M10 13.8h.01',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 6v4.2l2.8 1.6',
  pause: 'M7 5v10M13 5v10',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  next: 'M8 4.5 13.5 10 8 15.5',
  out: 'M8 4.5H4.5v11h11V12M11 4h5v5M16 4l-7 7',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM10 2.5v1.8M10 15.7v1.8M2.5 10h1.8M15.7 10h1.8M4.7 4.7 6 6M14 14l1.3 1.3M15.3 4.7 14 6M6 14l-1.3 1.3',
  moon: 'M16 11.8A6.5 6.5 0 0 1 8.2 4a6.5 6.5 0 1 0 7.8 7.8Z',
  auto: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 3v14M10 6l5 2M10 10h7M10 14l5-1',
  link: 'M8.5 11.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2l-.9.9M11.5 8.5a3 3 0 0 0-4.2 0l-2.6 2.6a3 3 0 0 0 4.2 4.2l.9-.9',
  robot: 'M5 8h10v7H5zM10 8V4.5M8 11.2h.01M12 11.2h.01M3 10.5v2M17 10.5v2',
  cut: 'M3 10h4l2-4 2.5 8 2-4H17',
  key: 'M12.5 11.5a4 4 0 1 0-3.9-3.1L3.5 13.5v3h3v-2h2v-2l1-1',
  up: 'M10 16V4.5m0 0L5.5 9M10 4.5 14.5 9',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo(): JSX.Element {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" class="logo-back" />
      <g class="logo-lines">
        <path d="M16 9.8V6.4M16 25.6v-3.4M9.8 16H6.4M25.6 16h-3.4M11.6 11.6 9.2 9.2M22.8 22.8l-2.4-2.4M20.4 11.6l2.4-2.4M9.2 22.8l2.4-2.4" />
        <circle cx="16" cy="16" r="3.3" />
      </g>
    </svg>
  );
}
