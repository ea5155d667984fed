// Texts for people.
/** A URL without what every one has; its end is cut by the style sheet. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '');

export const statusClass = (status: number | undefined): string =>
  status === undefined ? 'none' : status < 300 ? 'ok' : status < 400 ? 'moved' : 'bad';

export const timeText = (atMs: number): string =>
  new Date(atMs).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

export const msText = (ms: number): string =>
  ms < 1 ? '< 1 ms' : ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
