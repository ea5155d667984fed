// What the parts of the model's machine share: the pods, who lives in them, calls that can be made again, and the
// comparison of counters after each step.
import { CrawlError } from '../../errors.js';
import type { HolderId, QueueEntry } from '../../frontier/frontier.js';
import { createUrlSource } from './calls.js';
import { differs, mustEqual, withoutFates } from './difference.js';
import { createModel, type Model } from './frontier.js';
import type { Setting } from './steps.js';
import type { ModelOpening, ModelStore, ModelWorld } from './store.js';

/** One pod: its store, and what the model knows of it. */
export interface Pod {
  readonly index: number;
  readonly store: ModelStore;
  readonly model: Model;
  readonly domains: readonly string[];
  /** Batches of links that wait to be taken in, and those that wait for another pod. */
  inbox: (readonly QueueEntry[])[];
  outbox: { readonly target: number; readonly entries: readonly QueueEntry[] }[];
  /** What was added since the mark, if there is one, and the model at that moment. */
  mark: Mark | undefined;
  /** The first text of each note, by the process that made it: it keeps that for a while, to make it again. */
  readonly noted: Map<ModelOpening, Map<string, Noted>>;
  isLoose: boolean;
  behindMs: number;
}

export interface Noted {
  readonly text: string;
  readonly realMs: number;
}

export interface Mark {
  readonly snapshot: unknown;
  readonly added: { readonly entry: QueueEntry; readonly by: ModelOpening }[];
  readonly atMs: number;
  /** Not by the hand clock: processes keep what they added for a while of their own time. */
  readonly realMs: number;
}

/** One life of one process in one pod. */
export interface Slot {
  readonly pod: Pod;
  readonly opening: number;
  id: HolderId;
  calls: number;
}

export type ModelScene = ReturnType<typeof createModelScene>;

interface Caller {
  readonly holder: string;
  readonly call: number;
}

interface LastCall {
  readonly make: () => Promise<unknown>;
  readonly answer: unknown;
  readonly isSettle: boolean;
  readonly holder: HolderId;
  readonly pod: Pod;
}

export function createModelScene(world: ModelWorld, setting: Setting) {
  const { clock } = world;
  const names = Array.from({ length: setting.domains }, (_, i) => `d${i}.example`);
  const pods = world.stores.map((store, index): Pod => {
    const own = names.filter((name) => world.podOf(name) === index);
    return {
      ...{ index, store, domains: own.length > 0 ? own : [nameIn(index)], inbox: [], outbox: [], mark: undefined },
      ...{ isLoose: false, behindMs: 0, noted: new Map<ModelOpening, Map<string, Noted>>() },
      model: createModel({ ...store.rules, pacing: setting.pacing, leaseMs: setting.leaseMs }),
    };
  });
  const everyDomain = pods.flatMap(({ domains }) => domains);
  const urls = createUrlSource(setting);
  const ids = pods.map(() => new Set<number>());
  const away = new Set<number>();
  let lives = 0;
  let checks = 0;
  /** The last call, to be made again. */
  let last: LastCall | undefined;
  /** A check under way: it was sent before the next call and is compared after it. */
  let pending: { readonly opening: ModelOpening; readonly done: Promise<void> } | undefined;

  /** The opening each holder that lived belongs to, by pod. */
  const homes = pods.map(() => new Map<HolderId, ModelOpening>());

  /** Begins a new life in the slot's process. */
  function beginLife(slot: Slot, id = `life-${++lives}`): Slot {
    slot.id = id;
    slot.calls = 0;
    homes[slot.pod.index]!.set(id, openingOf(slot));
    return slot;
  }

  const slots = Array.from({ length: Math.max(setting.holders, pods.length) }, (_, i) => {
    const pod = pods[i % pods.length]!;
    const opening = Math.floor(i / pods.length) % pod.store.openings.length;
    const slot: Slot = { pod, opening, id: '', calls: 0 };
    // The first of each pod is the process itself, where that is something else.
    return beginLife(slot, i < pods.length ? pod.store.rules.unexpiring : undefined);
  });

  function openingOf({ pod, opening }: Slot): ModelOpening {
    return pod.store.openings[opening]!;
  }

  function nameIn(index: number): string {
    for (let n = 0; ; n++) if (world.podOf(`only${n}.example`) === index) return `only${n}.example`;
  }

  const now = (pod: Pod): number => clock.monotonicMs() - pod.behindMs;
  const isAway = (pod: number): boolean => away.has(pod);

  async function settled(): Promise<void> {
    const check = pending;
    pending = undefined;
    await check?.done;
  }

  /** Compares the store's numbers with the model's, as they are now. */
  async function check(pod: Pod, opening = pod.store.openings[0]!): Promise<void> {
    const expected = pod.model.counters(now(pod));
    const notes = ++checks % 16 === 0 ? pod.model.notes() : undefined;
    const numbers = checks % 4 === 0 ? pod.store.numbers?.() : undefined;
    const compare = async (): Promise<void> => {
      const overview = await opening.frontier.overview();
      const { accepted, queued, retrying, leased, done, failed, skipped } = overview.counters;
      if (
        accepted !== expected.accepted ||
        queued !== expected.queued ||
        retrying !== expected.retrying ||
        leased !== expected.leased ||
        done !== expected.done ||
        failed !== expected.failed ||
        skipped !== expected.skipped
      )
        mustEqual(`counters of pod ${pod.index}`, overview.counters, expected);
      if (notes) mustEqual('notes', withoutFates(overview.notes), notes);
      for (const [name, number] of Object.entries((await numbers) ?? {})) {
        if (number < 0) differs(`${name} of pod ${pod.index} is ${number}`);
      }
    };
    const done = compare();
    // Told when it is awaited.
    done.catch(() => undefined);
    pending = { opening, done };
    if (numbers) await settled();
  }

  /** Makes a call on a slot's opening and remembers it, to be made again. */
  async function call<T>(slot: Slot, make: (caller: Caller) => Promise<T>): Promise<T> {
    if (pending && pending.opening !== openingOf(slot)) await settled();
    const caller = { holder: slot.id, call: ++slot.calls };
    const answer = await make(caller);
    const isSettle = typeof answer === 'object' && answer !== null && 'accepted' in answer;
    last = { make: () => make(caller), answer, isSettle, holder: slot.id, pod: slot.pod };
    return answer;
  }

  /** What a holder does that finds itself lost: its settle is refused, and it begins a new life. */
  async function bury(slot: Slot): Promise<void> {
    const { frontier } = openingOf(slot);
    const settlements = [{ kind: 'done', lease: 1 }] as const;
    await settled();
    const answer = await frontier.settle({ holder: slot.id, call: ++slot.calls, settlements });
    mustEqual('a lost holder’s settle', answer, { held: false, accepted: [false] });
    const refused = await frontier.lease({ holder: slot.id, call: ++slot.calls, max: 1 }).then(
      () => 'leased',
      (error: unknown) => (error instanceof CrawlError ? error.code : error),
    );
    mustEqual('a lost holder’s lease', refused, 'LEASE_LOST');
    slot.pod.model.call(slot.id, now(slot.pod));
    beginLife(slot);
  }

  return {
    ...{ world, setting, clock, pods, slots, everyDomain, urls, ids, away, homes },
    ...{ beginLife, openingOf, now, isAway, settled, check, call, bury },
    /** The last call, if nothing but a restart of its server came after it. */
    takeLast() {
      const taken = last;
      last = undefined;
      return taken;
    },
    forgetLast: () => void (last = undefined),
  };
}
