// Small hooks: a stream as state, the route, the size of an element, the time.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { percentDecoded } from '../request/percent-decoded.js';
import { openStream, type Stream } from './stream.js';

export function useStream(path: string): Stream | undefined {
  const [, redraw] = useState(0);
  const stream = useRef<Stream | undefined>(undefined);
  useEffect(() => {
    stream.current = openStream(path, () => redraw((turn) => turn + 1));
    redraw((turn) => turn + 1);
    return () => {
      stream.current?.close();
      stream.current = undefined;
    };
  }, [path]);
  return stream.current;
}

export interface Route {
  /** Decoded parts of the path behind the `#`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').filter(Boolean).map(percentDecoded), query: new URLSearchParams(query) };
}

export const go = (hash: string): void => void (location.hash = hash);

export function useSize(ref: RefObject<Element | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    if (!ref.current) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** The time, once a second while something runs. */
export function useNow(isRunning: boolean): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return isRunning ? nowMs : Date.now();
}

/** A text that is passed on when nothing was typed for a moment. */
export function useSettled<T>(value: T, ms = 200): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
