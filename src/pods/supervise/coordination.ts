// The coordinator of all pods: moves page allowances between them and decides when the crawl is over.
// Guarantee 5: exhausted means that all seeds are in, every working pod answers, and two readings of all pods show
// nothing pending, unchanged totals, and counters that add up. max_pages is never exceeded: an allowance is taken
// from one pod before another gets it.
import { CrawlError } from '../../errors.js';
import type { AllowanceAct, PodReading } from '../../frontier/redis/pod-operations.js';
import { contradictionIn, negativeIn } from '../stores/pod-numbers.js';
import type { PodView } from '../stores/pod-view.js';

export type StopReason = 'max_pages' | 'max_duration' | 'exhausted' | 'stop_signal' | 'signal' | 'moved' | 'failed';

export interface Coordination {
  /** Reads every pod once; returns a reason if the crawl is over. */
  look(): Promise<'max_pages' | 'exhausted' | undefined>;
  /** Reads every pod's counters without changing anything. */
  hear(): Promise<void>;
  /** Pages done in all pods, as last reported. */
  readonly pages: number;
  /** The latest reading of each pod; undefined if it did not answer. */
  readonly readings: readonly (PodReading | undefined)[];
  /** The last known reading of each pod, however old. */
  readonly lastHeard: readonly (PodReading | undefined)[];
  /** Pods whose store is gone or inconsistent: they are ignored from now on. */
  readonly lost: ReadonlyMap<number, CrawlError>;
  /** False if another coordinator took over. */
  readonly isInCharge: boolean;
}

export interface CoordinationOptions {
  readonly pods: readonly PodView[];
  readonly epoch: number;
  readonly maxPages: number | undefined;
  /** Pods that have stopped: they are ignored from now on. */
  readonly isStopped: (pod: number) => boolean;
  /** Pods that took part in this crawl before: if their store is empty, it lost its data. */
  readonly hasBegun?: (pod: number) => boolean;
}

export function createCoordination(options: CoordinationOptions): Coordination {
  const { pods, epoch, maxPages, isStopped } = options;
  const readings: (PodReading | undefined)[] = pods.map(() => undefined);
  const lastHeard: (PodReading | undefined)[] = pods.map(() => undefined);
  const lost = new Map<number, CrawlError>();
  /** As last reported; only this coordinator changes them. */
  const allowances: number[] = pods.map(() => 0);
  let isIntroduced = false;
  /** Ignored pods: stopped and silent, or lost. */
  let gone = new Set<number>();
  const seeded = new Set<number>();
  let isInCharge = true;
  let quiet: string | undefined;

  const doneOf = (index: number): number => lastHeard[index]?.done ?? 0;
  const pagesOf = (): number => pods.reduce((sum, _, index) => sum + doneOf(index), 0);
  const present = (): number[] => [...pods.keys()].filter((index) => !gone.has(index));

  function lose(index: number, error: CrawlError): void {
    if (!lost.has(index)) lost.set(index, error);
  }

  async function hear(): Promise<void> {
    const answers = await Promise.allSettled(pods.map((pod) => pod.reading()));
    answers.forEach((answer, index) => {
      readings[index] = answer.status === 'fulfilled' ? answer.value : undefined;
      if (answer.status === 'rejected') {
        if (isStoreGone(answer.reason) && (lastHeard[index] || options.hasBegun?.(index))) lose(index, answer.reason);
        return;
      }
      const negative = negativeIn(answer.value);
      if (negative === undefined) lastHeard[index] = answer.value;
      else lose(index, corrupt(index, negative));
    });
    const now = new Set([...pods.keys()].filter((i) => lost.has(i) || (isStopped(i) && !readings[i])));
    if ([...now].some((index) => !gone.has(index)) || now.size !== gone.size) {
      // The remaining allowance is redistributed among the others.
      isIntroduced = false;
      quiet = undefined;
    }
    gone = now;
  }

  /** Changes a pod's allowance; returns how many pages moved. */
  async function change(index: number, act: AllowanceAct): Promise<number> {
    const answer = await pods[index]!.changeAllowance(epoch, act);
    if (!answer.held) isInCharge = false;
    allowances[index] = answer.allowance ?? 0;
    return answer.held ? answer.pages : 0;
  }

  const give = (index: number, count: number) =>
    change(index, { act: 'give', pages: count, known: allowances[index]! });
  const take = (index: number, count: number) =>
    change(index, { act: 'take', pages: count, known: allowances[index]! });

  /**
   * First call to every pod, repeated after a call with unknown outcome: a limit or none, and the unassigned rest of
   * max_pages. Needs all pods, or an allowance could be given twice; a lost pod keeps only what it has done. Also
   * fences off the previous coordinator.
   */
  async function introduce(): Promise<void> {
    if (isIntroduced) return;
    const there = present();
    for (const index of gone) allowances[index] = doneOf(index);
    for (const index of there) await change(index, { act: maxPages === undefined ? 'lift' : 'limit' });
    if (maxPages !== undefined && isInCharge) {
      let missing = maxPages - allowances.reduce((sum, allowance) => sum + allowance, 0);
      for (const [i, index] of there.entries()) {
        if (missing < 0) missing += await take(index, -missing);
        else missing -= await give(index, Math.floor(missing / (there.length - i)));
      }
    }
    isIntroduced = true;
  }

  /** Moves unused allowance to pods that can use it. */
  async function balance(): Promise<void> {
    const states = present().map((index) => {
      const reading = readings[index]!;
      return {
        index,
        free: Math.max(0, allowances[index]! - reading.done - reading.leased),
        wants: isStopped(index) ? 0 : reading.queued + reading.retrying,
        isReady: reading.dueDomains > 0,
      };
    });
    for (const hungry of states) {
      let missing = hungry.wants - hungry.free;
      for (const donor of states) {
        if (donor === hungry || missing <= 0) continue;
        const surplus = donor.free - donor.wants;
        // A pod with work gives half of its allowance to one without any.
        const gift = surplus > 0 ? surplus : hungry.free === 0 && hungry.isReady ? Math.floor(donor.free / 2) : 0;
        if (gift <= 0) continue;
        const taken = await take(donor.index, Math.min(gift, missing));
        donor.free -= taken;
        if (taken > 0) await give(hungry.index, taken);
        hungry.free += taken;
        missing -= taken;
      }
    }
  }

  /** Pages in transit when a call fails are recovered by the next introduction. */
  async function settled(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      isIntroduced = false;
      throw error;
    }
  }

  /** Links that a pod can still accept. */
  async function deliverable(index: number): Promise<number> {
    const { outbox } = readings[index]!;
    if (outbox === 0 || gone.size === 0) return outbox;
    return [...(await pods[index]!.outboxByPod())].reduce((sum, [pod, links]) => sum + (gone.has(pod) ? 0 : links), 0);
  }

  async function isQuiet(working: readonly number[]): Promise<boolean> {
    for (const index of working) {
      const { queued, retrying, leased } = readings[index]!;
      if (queued + retrying + leased > 0 || (await deliverable(index)) > 0) return false;
    }
    return true;
  }

  async function isExhausted(): Promise<boolean> {
    const working = present().filter((index) => !isStopped(index));
    const totals = (await isQuiet(working)) ? working.map((index) => readings[index]!.accepted).join(' ') : undefined;
    const isSame = totals !== undefined && totals === quiet;
    quiet = totals;
    if (!isSame) return false;
    for (const index of working) {
      if (seeded.has(index)) continue;
      if (!(await pods[index]!.isSeeded())) {
        quiet = undefined;
        return false;
      }
      seeded.add(index);
    }
    return true;
  }

  /** False if a pod's counters do not add up: then it is lost, and the crawl ends without it. */
  function addUp(): boolean {
    const before = lost.size;
    for (const index of present()) {
      const contradiction = contradictionIn(readings[index]!);
      if (contradiction !== undefined) lose(index, corrupt(index, contradiction));
    }
    return lost.size === before;
  }

  return {
    hear,
    async look() {
      await hear();
      // Only this coordinator changes them: a store with another number has lost its last calls.
      if (maxPages !== undefined && present().some((i) => readings[i] && readings[i].allowance !== allowances[i])) {
        isIntroduced = false;
      }
      if (present().some((index) => !readings[index])) {
        // A pod that does not answer may have work: no conclusion is possible.
        quiet = undefined;
        return undefined;
      }
      await settled(introduce);
      if (maxPages !== undefined && pagesOf() >= maxPages) {
        addUp();
        return 'max_pages';
      }
      if (present().length > 0 && (await isExhausted()) && addUp()) return 'exhausted';
      if (maxPages !== undefined && isInCharge) await settled(balance);
      return undefined;
    },
    get pages() {
      return pagesOf();
    },
    readings,
    lastHeard,
    lost,
    get isInCharge() {
      return isInCharge;
    },
  };
}

function isStoreGone(error: unknown): error is CrawlError {
  return error instanceof CrawlError && (error.code === 'QUEUE_EMPTIED' || error.code === 'QUEUE_FOREIGN');
}

function corrupt(index: number, numbers: string): CrawlError {
  return new CrawlError('QUEUE_CORRUPT', `the counters of pod ${index} are inconsistent: ${numbers}`);
}
