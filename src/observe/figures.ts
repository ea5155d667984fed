// How counts, durations and sizes are written for people: in progress lines and closing summaries.
// Promise: short, the same everywhere, and free of the machine's locale.

/** `12,345` */
export function countText(count: number): string {
  // eslint-disable-next-line regexp/no-super-linear-move -- a number has few digits
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 page`, `2 pages` */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min` */
export function durationText(durationMs: number): string {
  const seconds = Math.max(0, durationMs) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(whole % 60)} s`;
  return `${countText(Math.floor(minutes / 60))} h ${twoDigits(minutes % 60)} min`;
}

/** `2.4`, `31`, `1,204` */
export function rateText(perSecond: number): string {
  return perSecond < 9.95 ? perSecond.toFixed(1) : countText(perSecond);
}

/** `512 B`, `1.4 MB` */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  for (; size >= 999.5 && unit < units.length - 1; unit++) size /= 1000;
  return `${unit === 0 || size >= 9.95 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
