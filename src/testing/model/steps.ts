// The steps that a history is made of, and how a seed becomes one. Numbers select by remainder, so that any list of
// steps is a history: what is left after shrinking still runs.
import type { Pacing } from '../../frontier/frontier.js';

export const STEP_KINDS = [
  ...(['add', 'wave', 'lease', 'settle', 'land', 'release', 'advance', 'wall', 'repeat', 'find'] as const),
  ...(['keep', 'reopen', 'restart', 'mark', 'loseTail', 'pull', 'allow', 'takeIn', 'deliver', 'away'] as const),
] as const;

export type StepKind = (typeof STEP_KINDS)[number];

export interface Step {
  readonly kind: StepKind;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** What stays the same through one history. */
export interface Setting {
  readonly pacing: Pacing;
  readonly leaseMs: number;
  /** Domains over all pods. */
  readonly domains: number;
  readonly holders: number;
  /** Processes that have each store open. */
  readonly openings: number;
  /** Requests a domain keeps in Redis; 0 for all. */
  readonly head: number;
  readonly seen: 'requests' | 'exact' | 'bloom' | 'small bloom';
  /** Requests of a domain in all; 0 for any number. */
  readonly budget: number;
  readonly pods: number;
  /** Most URLs in one history. */
  readonly maxUrls: number;
}

export type Chance = (below: number) => number;

/** The same numbers for the same seed, everywhere. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  return (below) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

export const MAX_NUMBER = 1_000_000;

/** Small numbers that differ with `n` and `i`: for the parts of one step. */
export function mixed(n: number, i: number, below: number): number {
  let t = Math.imul((n ^ Math.imul(i + 1, 0x9e3779b1)) >>> 0, 0x85ebca6b);
  t = Math.imul(t ^ (t >>> 13), 0xc2b2ae35);
  return ((t ^ (t >>> 16)) >>> 0) % below;
}

type Weights = Partial<Record<StepKind, number>>;

const ALWAYS: Weights = { release: 4, advance: 14, wall: 1, repeat: 6, find: 2, keep: 24, pull: 6, allow: 2 };
const RARELY: Weights = { reopen: 1, takeIn: 6, deliver: 3, away: 2 };
/** Queues fill, empty, and are worked at with a little of both. */
const MOODS: readonly Weights[] = [
  { ...ALWAYS, ...RARELY, add: 40, wave: 6, lease: 14, settle: 12, land: 6 },
  { ...ALWAYS, ...RARELY, add: 2, lease: 40, settle: 40, land: 12 },
  { ...ALWAYS, ...RARELY, add: 16, wave: 1, lease: 30, settle: 30, land: 10 },
];

/** `faults`: how often a store is restarted, marked and set back, as weights beside some 150. */
export function randomSteps(chance: Chance, count: number, faults: Weights = {}): Step[] {
  const tables = MOODS.map((weights) => table({ ...weights, ...faults }));
  const steps: Step[] = [];
  while (steps.length < count) {
    const kinds = tables[chance(tables.length)]!;
    for (let left = 10 + chance(60); left > 0 && steps.length < count; left--) {
      const kind = kinds[chance(kinds.length)]!;
      steps.push({ kind, a: chance(MAX_NUMBER), b: chance(MAX_NUMBER), c: chance(MAX_NUMBER) });
    }
  }
  return steps;
}

/** Weights in tenths. */
function table(weights: Weights): StepKind[] {
  return (Object.entries(weights) as [StepKind, number][]).flatMap(([kind, weight]) =>
    new Array<StepKind>(Math.round(weight * 10)).fill(kind),
  );
}

/** What a kind of backend can be set to. */
export interface SettingChoices {
  readonly openings?: number;
  readonly heads?: readonly number[];
  readonly seen?: readonly Setting['seen'][];
  readonly hasBudget?: boolean;
  readonly pods?: number;
}

export function randomSetting(chance: Chance, choices: SettingChoices): Setting {
  const { openings = 1, heads = [0], seen = ['requests'], hasBudget = false, pods = 1 } = choices;
  const of = <T>(list: readonly T[]): T => list[chance(list.length)]!;
  const head = of(heads);
  return {
    pacing: { delayMs: of([0, 0, 100, 300, 1_000]), turns: of([1, 2, 3, 10]) },
    leaseMs: 10_000,
    domains: pods * (1 + chance(head > 100 ? 2 : 6)),
    holders: pods * (1 + chance(4)),
    openings: 1 + chance(openings),
    head,
    seen: of(seen),
    budget: hasBudget && chance(3) === 0 ? of([1, 3, 20, 200]) : 0,
    pods,
    maxUrls: 400 + 5 * head,
  };
}
