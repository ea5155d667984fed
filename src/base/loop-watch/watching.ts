// What the watching thread does, as a function of ticks: reads the shared marks and says when the loop is blocked and by
// whom. Promise: a process that was stopped or starved as a whole is not accused: only ticks of its own count.
import { HANDLING, HEAD, MARK_SLOTS, type SharedMarks, VISITING } from './shared-marks.js';

/** The loop did not turn for the limit, or turns again. */
export interface BlockReport {
  readonly kind: 'blocked' | 'freed';
  readonly blockedMs: number;
  /** The visit whose work it is for sure, and otherwise all that it may be. Empty: none was under way. */
  readonly visits: readonly { readonly url: string; readonly lease: number }[];
  readonly isCertain: boolean;
}

/** Named in a report of which nobody knows whose work it was. */
const MAX_NAMED = 64;

export function createWatching(marks: SharedMarks, tickMs: number): () => BlockReport | undefined {
  const { head, states } = marks;
  let beat = Atomics.load(head, HEAD.beat);
  let stretch = 0;
  let still = 0;
  let stretchTicks = 0;
  let reported: BlockReport | undefined;

  return () => {
    const nowBeat = Atomics.load(head, HEAD.beat);
    const limitMs = Atomics.load(head, HEAD.limitMs);
    if (nowBeat !== beat || limitMs === 0) {
      const freed = reported && { ...reported, kind: 'freed' as const, blockedMs: still * tickMs };
      beat = nowBeat;
      still = stretchTicks = 0;
      reported = undefined;
      return freed;
    }
    still++;
    const nowStretch = Atomics.load(head, HEAD.stretch);
    stretchTicks = nowStretch === stretch ? stretchTicks + 1 : 0;
    stretch = nowStretch;
    if (reported || still * tickMs < limitMs) return undefined;
    const current = Atomics.load(head, HEAD.current);
    // Many short stretches in one turn of the loop are nobody's alone.
    const isCertain = current > 0 && stretchTicks * tickMs * 2 >= limitMs;
    const slots = isCertain ? [current - 1] : under(HANDLING);
    const visits = (slots.length > 0 ? slots : under(VISITING)).slice(0, MAX_NAMED).map(visitAt);
    return (reported = { kind: 'blocked', blockedMs: still * tickMs, visits, isCertain });
  };

  function under(state: number): number[] {
    const found: number[] = [];
    for (let slot = 0; slot < MARK_SLOTS; slot++) if (Atomics.load(states, slot) === state) found.push(slot);
    return found;
  }

  function visitAt(slot: number) {
    const { urls, urlLengths, leases, urlBytes } = marks;
    const at = slot * urlBytes;
    // A copy: text is not decoded from shared memory.
    const bytes = Buffer.from(urls.slice(at, at + urlLengths[slot]!));
    return { url: withoutSecrets(bytes.toString('latin1')), lease: leases[slot]! };
  }
}

/** Passwords do not belong into logs. */
function withoutSecrets(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1');
}
