// One stream of server-sent events for all who watch the same thing: a snapshot, then changes.
// Promise: the state is read and written out once per tick, whoever watches; a slow reader holds a bounded number of
// bytes and gets a new snapshot when it is back; a connection that was cut resumes by the id of its last event.
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { LIMITS, limitReached } from '../../limits.js';

/** What a list that only grows has for its watchers. Items are JSON. */
export interface Growing {
  /** What came since the last call; `reset` when the list begins anew with it. */
  news(): Promise<{ readonly items: readonly string[]; readonly reset: boolean }>;
  /** What a newcomer needs. */
  recent(): readonly string[];
}

export interface Topic {
  /** Everything that is replaced when it changes, by key. */
  state(): Promise<Readonly<Record<string, unknown>>>;
  readonly growing?: Readonly<Record<string, Growing>>;
}

export interface Channel {
  readonly watchers: number;
  /** Begins an answer that stays open. */
  watch(response: ServerResponse, lastId: string | undefined): Promise<void>;
  /** Sends what is new now. */
  flush(): Promise<void>;
  close(): void;
}

export interface ChannelOptions {
  readonly topic: Topic;
  readonly onEmpty: () => void;
  readonly everyMs?: number;
}

const EVERY_MS = 300;
const BEAT_MS = 15_000;
const MAX_SILENCE_MS = 60_000;
/** Changes that a reader may have missed: about a minute of them. */
const MAX_KEPT = 200;
const MAX_KEPT_CHARACTERS = 2_000_000;

interface Watcher {
  readonly response: ServerResponse;
  /** It has missed changes because it does not read. */
  behindSinceMs: number | undefined;
}

export function createChannel({ topic, onEmpty, everyMs = EVERY_MS }: ChannelOptions): Channel {
  const epoch = randomBytes(6).toString('base64url');
  const watchers = new Set<Watcher>();
  const values = new Map<string, string>();
  const kept: { number: number; text: string }[] = [];
  const growing = Object.entries(topic.growing ?? {});
  let keptCharacters = 0;
  let last = 0;
  let isClosed = false;
  let ticking: Promise<void> | undefined;
  let timers: NodeJS.Timeout[] = [];

  async function read(): Promise<string | undefined> {
    const state = await topic.state();
    const set: string[] = [];
    const gone: string[] = [];
    for (const [key, value] of Object.entries(state)) {
      const text = JSON.stringify(value);
      if (text === undefined || values.get(key) === text) continue;
      values.set(key, text);
      set.push(`${JSON.stringify(key)}:${text}`);
    }
    for (const key of values.keys()) {
      if (state[key] !== undefined) continue;
      values.delete(key);
      gone.push(key);
    }
    const add: string[] = [];
    const reset: string[] = [];
    for (const [name, list] of growing) {
      const news = await list.news();
      if (news.reset) reset.push(name);
      if (news.items.length > 0) add.push(`${JSON.stringify(name)}:[${news.items.join(',')}]`);
    }
    if (set.length + gone.length + add.length + reset.length === 0) return undefined;
    const more = `${gone.length > 0 ? `,"gone":${JSON.stringify(gone)}` : ''}${reset.length > 0 ? `,"reset":${JSON.stringify(reset)}` : ''}`;
    return `{"set":{${set.join(',')}}${more},"add":{${add.join(',')}}}`;
  }

  function snapshot(): string {
    const set = [...values].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',');
    const add = growing.map(([name, list]) => `${JSON.stringify(name)}:[${list.recent().join(',')}]`).join(',');
    return eventText('snapshot', last, `{"set":{${set}},"add":{${add}}}`);
  }

  const eventText = (type: string, number: number, data: string): string =>
    `event: ${type}\nid: ${epoch}.${number}\ndata: ${data}\n\n`;

  async function tick(): Promise<void> {
    const data = await read();
    if (data === undefined || isClosed) return;
    const text = eventText('change', ++last, data);
    kept.push({ number: last, text });
    keptCharacters += text.length;
    while (kept.length > MAX_KEPT || (keptCharacters > MAX_KEPT_CHARACTERS && kept.length > 0)) {
      keptCharacters -= kept.shift()!.text.length;
    }
    const bytes = Buffer.from(text);
    for (const watcher of watchers) send(watcher, bytes);
  }

  function send(watcher: Watcher, bytes: Buffer | string): void {
    const { response } = watcher;
    if (response.destroyed) return;
    if (response.writableLength > LIMITS.watcherBytes.max) {
      if (watcher.behindSinceMs === undefined) limitReached('watcherBytes');
      watcher.behindSinceMs ??= performance.now();
      if (performance.now() - watcher.behindSinceMs > MAX_SILENCE_MS) response.destroy();
      return;
    }
    if (watcher.behindSinceMs !== undefined) {
      // What it missed is part of the state now.
      watcher.behindSinceMs = undefined;
      response.write(snapshot());
    } else response.write(bytes);
  }

  function tickOnce(): Promise<void> {
    // An answer that takes long must not pile up; one that fails leaves what was shown.
    return (ticking ??= tick()
      .catch(() => undefined)
      .finally(() => (ticking = undefined)));
  }

  function start(): void {
    if (timers.length > 0) return;
    timers = [
      setInterval(() => void tickOnce(), everyMs),
      setInterval(() => {
        for (const watcher of watchers) send(watcher, ': still here\n\n');
      }, BEAT_MS),
    ];
    for (const timer of timers) timer.unref();
  }

  function stopIfUnwatched(): void {
    if (watchers.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    timers = [];
    onEmpty();
  }

  function missedSince(lastId: string | undefined): string | undefined {
    const [of, number] = (lastId ?? '').split('.');
    const from = Number(number);
    if (of !== epoch || !Number.isInteger(from) || from > last) return undefined;
    if (from < last && (kept[0]?.number ?? Infinity) > from + 1) return undefined;
    const missed = kept.filter((one) => one.number > from).map(({ text }) => text);
    return `: resumed\n\n${missed.join('')}`;
  }

  return {
    get watchers() {
      return watchers.size;
    },
    async watch(response, lastId) {
      const watcher: Watcher = { response, behindSinceMs: undefined };
      const closed = new Promise<void>((resolve) => response.once('close', resolve));
      start();
      await tickOnce();
      if (isClosed || response.destroyed) {
        response.end();
        return stopIfUnwatched();
      }
      watchers.add(watcher);
      response.write(missedSince(lastId) ?? snapshot());
      await closed;
      watchers.delete(watcher);
      stopIfUnwatched();
    },
    async flush() {
      await ticking;
      await tickOnce();
    },
    close() {
      isClosed = true;
      for (const timer of timers) clearInterval(timer);
      for (const { response } of watchers) response.end();
    },
  };
}
