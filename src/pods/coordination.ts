// The one who watches all pods: moves the allowance of pages between them, and knows when the crawl is over.
// Guarantee 5: exhausted means that the seeds are all in, every pod answers, and two readings of all pods show nothing
// pending and unchanged totals. max_pages is never exceeded: an allowance is taken from one pod before another gets it.
import type { AllowanceAct, PodReading } from '../frontier/redis/pod-operations.js';
import type { PodView } from './pod-view.js';

export type StopReason = 'max_pages' | 'max_duration' | 'exhausted' | 'stop_signal' | 'signal' | 'failed';

export interface Coordination {
  /** Looks at every pod once; a reason when the crawl is over. */
  look(): Promise<'max_pages' | 'exhausted' | undefined>;
  /** Pages done over all pods, as last heard of each. */
  readonly pages: number;
  /** The last reading of each pod; undefined where it did not answer. */
  readonly readings: readonly (PodReading | undefined)[];
  /** False when another coordinator took over. */
  readonly isInCharge: boolean;
}

export interface CoordinationOptions {
  readonly pods: readonly PodView[];
  readonly epoch: number;
  readonly maxPages: number | undefined;
  /** Pods that have stopped for good: nothing is expected of them any more. */
  readonly isStopped: (pod: number) => boolean;
}

export function createCoordination(options: CoordinationOptions): Coordination {
  const { pods, epoch, maxPages, isStopped } = options;
  const readings: (PodReading | undefined)[] = pods.map(() => undefined);
  /** As last heard; only this coordinator changes them. */
  const allowances: number[] = pods.map(() => 0);
  let isIntroduced = false;
  const seeded = new Set<number>();
  let isInCharge = true;
  const done = pods.map(() => 0);
  let pages = 0;
  let quiet: string | undefined;

  /** Changes a pod's allowance; how many pages moved. */
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
   * First words to every pod, and after a call whose fate is unknown: a limit or none, and what of max_pages nobody has.
   * Needs all of them, or what one holds would be given twice. Also fences off the coordinator before this one.
   */
  async function introduce(): Promise<void> {
    if (isIntroduced) return;
    for (const index of pods.keys()) await change(index, { act: maxPages === undefined ? 'lift' : 'limit' });
    if (maxPages !== undefined && isInCharge) {
      let missing = maxPages - allowances.reduce((sum, allowance) => sum + allowance, 0);
      for (const index of pods.keys()) {
        if (missing < 0) missing += await take(index, -missing);
        else missing -= await give(index, Math.floor(missing / (pods.length - index)));
      }
    }
    isIntroduced = true;
  }

  /** Moves what one pod cannot use to one that can. */
  async function balance(all: readonly PodReading[]): Promise<void> {
    const states = all.map((reading, index) => ({
      index,
      free: Math.max(0, allowances[index]! - reading.done - reading.leased),
      wants: isStopped(index) ? 0 : reading.queued + reading.retrying,
      isReady: reading.dueDomains > 0,
    }));
    for (const hungry of states) {
      let missing = hungry.wants - hungry.free;
      for (const donor of states) {
        if (donor === hungry || missing <= 0) continue;
        const surplus = donor.free - donor.wants;
        // A pod that has work left gives half of what it has to one that stands still.
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

  /** Pages on their way when a call fails are found again by the next introduction. */
  async function settled(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      isIntroduced = false;
      throw error;
    }
  }

  async function isExhausted(all: readonly PodReading[]): Promise<boolean> {
    const expected = all.filter((_, index) => !isStopped(index));
    const pending = expected.some((one) => one.queued + one.retrying + one.leased + one.outbox > 0);
    const totals = pending ? undefined : expected.map((one) => one.accepted).join(' ');
    const isSame = totals !== undefined && totals === quiet;
    quiet = totals;
    if (!isSame) return false;
    for (const [index, pod] of pods.entries()) {
      if (isStopped(index) || seeded.has(index)) continue;
      if (!(await pod.isSeeded())) {
        quiet = undefined;
        return false;
      }
      seeded.add(index);
    }
    return true;
  }

  return {
    async look() {
      const answers = await Promise.allSettled(pods.map((pod) => pod.reading()));
      answers.forEach((answer, index) => {
        readings[index] = answer.status === 'fulfilled' ? answer.value : undefined;
        // Done never shrinks: what a pod that is away had counts on.
        if (answer.status === 'fulfilled') done[index] = answer.value.done;
      });
      pages = done.reduce((sum, count) => sum + count, 0);
      const all = readings.filter((reading) => reading !== undefined);
      // Only this coordinator changes them: a store that says another number forgot what it was told.
      if (maxPages !== undefined && readings.some((one, i) => one && one.allowance !== allowances[i])) {
        isIntroduced = false;
      }
      if (all.length < pods.length) {
        // A pod that does not answer may hold work: nothing can be concluded.
        quiet = undefined;
        return undefined;
      }
      await settled(introduce);
      if (maxPages !== undefined && pages >= maxPages) return 'max_pages';
      if (await isExhausted(all)) return 'exhausted';
      if (maxPages !== undefined && isInCharge) await settled(() => balance(all));
      return undefined;
    },
    get pages() {
      return pages;
    },
    readings,
    get isInCharge() {
      return isInCharge;
    },
  };
}
