// The stream of events of the server, read by fetch, because an EventSource cannot carry a token in a header.
// Promise: a cut connection resumes by the id of the last event; a tab that slept catches up at once; what is held is
// bounded. Whoever listens is told at most once per frame.
import type { StreamData } from '../serve/console/wire.js';
import { authorization } from './api.js';

export type StreamStatus = 'connecting' | 'live' | 'lost' | 'denied' | 'gone';

export interface Stream {
  readonly status: StreamStatus;
  readonly values: ReadonlyMap<string, unknown>;
  /** Lists that grow; a new array whenever one has changed. */
  readonly lists: ReadonlyMap<string, readonly unknown[]>;
  close(): void;
}

const MAX_KEPT: Readonly<Record<string, number>> = { rows: 400, samples: 1_200 };
const SILENCE_MS = 40_000;
/** Back from sleep, a connection that was silent for so long may be dead; a new one resumes where it was. */
const SLEPT_MS = 3_000;
/** A server that is back is noticed within a second. */
const WAITS_MS = [200, 500, 1_000];

export function openStream(path: string, onChange: () => void): Stream {
  const values = new Map<string, unknown>();
  const lists = new Map<string, readonly unknown[]>();
  let status: StreamStatus = 'connecting';
  let lastId = '';
  let lastAtMs = performance.now();
  let attempt: AbortController | undefined;
  let wake: () => void = () => undefined;
  let isClosed = false;
  let isTold = false;

  function tell(): void {
    if (isTold || isClosed) return;
    isTold = true;
    const now = (): void => {
      if (!isTold) return;
      isTold = false;
      if (!isClosed) onChange();
    };
    // A hidden tab has no frames.
    if (document.hidden) setTimeout(now, 500);
    else requestAnimationFrame(now);
  }

  function setStatus(next: StreamStatus): void {
    if (next === status) return;
    status = next;
    tell();
  }

  function apply(type: string, { set, gone = [], add = {}, reset = [] }: StreamData): void {
    if (type === 'snapshot') {
      values.clear();
      lists.clear();
    }
    for (const [key, value] of Object.entries(set)) values.set(key, value);
    for (const key of gone) values.delete(key);
    for (const name of reset) lists.set(name, []);
    for (const [name, items] of Object.entries(add)) {
      lists.set(name, [...(lists.get(name) ?? []), ...items].slice(-(MAX_KEPT[name] ?? 1_000)));
    }
    status = values.get('gone') === true ? 'gone' : 'live';
    tell();
  }

  function take(block: string): void {
    let type = 'message';
    let data = '';
    let id = '';
    for (const line of block.split('\n')) {
      if (line.startsWith('event: ')) type = line.slice(7);
      else if (line.startsWith('id: ')) id = line.slice(4);
      else if (line.startsWith('data: ')) data += line.slice(6);
    }
    if (data !== '') apply(type, JSON.parse(data) as StreamData);
    if (id !== '') lastId = id;
  }

  async function read(signal: AbortSignal): Promise<void> {
    const answer = await fetch(path, {
      headers: { ...authorization(), ...(lastId !== '' && { 'last-event-id': lastId }) },
      signal,
      referrerPolicy: 'no-referrer',
      credentials: 'omit',
      cache: 'no-store',
    });
    if (answer.status === 401 || answer.status === 403) return setStatus('denied');
    if (answer.status === 404) return setStatus('gone');
    if (!answer.ok || !answer.body) throw new Error(String(answer.status));
    setStatus('live');
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      lastAtMs = performance.now();
      text += value;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !isClosed; failures++) {
      attempt = new AbortController();
      const startedMs = performance.now();
      lastAtMs = startedMs;
      await read(attempt.signal).catch(() => undefined);
      if (isClosed || status === 'denied' || status === 'gone') return;
      if (performance.now() - startedMs > 5_000) failures = 0;
      setStatus('lost');
      await new Promise<void>((resume) => {
        wake = resume;
        setTimeout(resume, WAITS_MS[Math.min(failures, WAITS_MS.length - 1)]);
      });
    }
  }

  /** Back from sleep, or on the network again: not a moment is waited. */
  function comeBack(): void {
    if (document.hidden) return;
    if (performance.now() - lastAtMs > SLEPT_MS) attempt?.abort();
    wake();
    tell();
  }

  const watch = setInterval(() => {
    if (performance.now() - lastAtMs > SILENCE_MS) attempt?.abort();
  }, 5_000);
  document.addEventListener('visibilitychange', comeBack);
  addEventListener('online', comeBack);
  void run();

  return {
    get status() {
      return status;
    },
    values,
    lists,
    close() {
      isClosed = true;
      attempt?.abort();
      clearInterval(watch);
      document.removeEventListener('visibilitychange', comeBack);
      removeEventListener('online', comeBack);
    },
  };
}
