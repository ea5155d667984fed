// Conformance: random histories against a model of the port that is too simple to be wrong.
// The model knows no tables: it keeps lists and recomputes everything, and the backend must agree after each step.
import { type Bench, entry, LEASE_MS, type Scene, type TestHolder } from './conformance-bench.js';
import { createModel, type Model } from './conformance-frontier-model.js';

/** One step of a history. Numbers select by remainder, so any list of them is a history. */
export interface Step {
  readonly kind: 'add' | 'lease' | 'settle' | 'land' | 'release' | 'advance';
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

export const STEP_KINDS: readonly Step['kind'][] = ['add', 'lease', 'settle', 'land', 'release', 'advance'];

const HOLDERS = 3;
const DOMAINS = ['a', 'b', 'c'] as const;

/** Plays a history on the backend and on the model; throws where they differ. */
export async function playHistory(
  scene: Scene,
  { expect, ended }: Pick<Bench, 'expect' | 'ended'>,
  steps: readonly Step[],
) {
  const model = createModel({ pacing: { delayMs: 300, turns: 2 }, leaseMs: LEASE_MS });
  let lives = 0;
  const holders: TestHolder[] = Array.from({ length: HOLDERS }, () => scene.holder(`life-${++lives}`));
  for (const step of steps) {
    const index = step.a % HOLDERS;
    if (model.isLost(holders[index]!.id, scene.clock.monotonicMs())) {
      // What a holder does that finds itself lost.
      expect(await holders[index]!.settle([{ kind: 'done', lease: 1 }])).toEqual({ held: false, accepted: [false] });
      holders[index] = scene.holder(`life-${++lives}`);
    }
    await play(step, holders[index]!, scene, model, { expect, ended });
    const counters = (await scene.frontier.overview()).counters;
    expect(counters).toEqual(model.counters(scene.clock.monotonicMs()));
  }
}

async function play(
  step: Step,
  holder: TestHolder,
  scene: Scene,
  model: Model,
  { expect, ended }: Pick<Bench, 'expect' | 'ended'>,
) {
  const nowMs = scene.clock.monotonicMs();
  switch (step.kind) {
    case 'add': {
      const list = Array.from({ length: 1 + (step.b % 4) }, (_, i) => {
        const domain = DOMAINS[(step.c + i) % DOMAINS.length]!;
        const priority = (((step.b >> 2) % 3) - 1) as -1 | 0 | 1;
        return entry(`${domain}/${(step.b + i * 7) % 40}`, domain, { priority, forefront: step.c % 4 === 0 });
      });
      const presences = model.add(holder.id, list, nowMs);
      expect(await holder.add(...list)).toEqual(presences.map((presence) => (presence === 'ended' ? ended : presence)));
      return;
    }
    case 'lease': {
      const skim = DOMAINS.filter((_, i) => step.c % 2 === 0 && (step.c >> (i + 1)) % 2 === 0);
      const answer = await holder.lease(step.b % 5, undefined, skim);
      const expected = model.lease(holder.id, step.b % 5, skim, nowMs);
      expect(answer.leases.map(({ record }) => record)).toEqual(expected.records);
      expect(answer.state).toBe(expected.state);
      expect(answer.nextDueMs).toBe(expected.nextDueMs);
      model.nameLeases(
        holder.id,
        answer.leases.map(({ id }) => id),
      );
      return;
    }
    case 'land': {
      const lease = pick(model.heldBy(holder.id), step.b);
      if (lease === undefined) return;
      const delay = step.c % 3 === 0 ? { delayMs: (step.c % 4) * 100 } : {};
      const landing = { lease, ...delay, ...(step.c % 5 === 0 ? { pauseMs: 700 } : {}) };
      await holder.land(landing);
      model.land(holder.id, landing, nowMs);
      return;
    }
    case 'settle': {
      const lease = pick(model.heldBy(holder.id), step.b) ?? 999_999;
      const kinds = [
        { kind: 'done', lease },
        { kind: 'failed', lease, reason: 'x' },
        { kind: 'skipped', lease, reason: 'x' },
        { kind: 'retry', lease, afterMs: (step.c % 3) * 400 },
        { kind: 'untouched', lease },
      ] as const;
      const settlement = kinds[step.c % kinds.length]!;
      expect(await holder.settle([settlement])).toEqual({
        held: true,
        accepted: [model.settle(holder.id, settlement, nowMs)],
      });
      return;
    }
    case 'release':
      if (step.b % 3 === 0) expect(await scene.frontier.release(holder.id)).toBe(model.release(holder.id, nowMs));
      return;
    case 'advance':
      scene.clock.advance(step.b % 7 === 0 ? LEASE_MS + 1 : (step.b % 10) * 100);
      return;
    default:
      return step.kind satisfies never;
  }
}

function pick(list: readonly number[], number: number): number | undefined {
  return list.length === 0 ? undefined : list[number % list.length];
}

const HISTORIES = 15;
const STEPS = 120;

export function modelSuite(bench: Bench): void {
  bench.describe('model', () => {
    for (let seed = 1; seed <= HISTORIES; seed++) {
      bench.scene(
        `agrees with a simple model in random history ${seed}`,
        { pacing: { delayMs: 300, turns: 2 } },
        (scene) => playHistory(scene, bench, randomSteps(seed)),
      );
    }
  });
}

function randomSteps(seed: number): Step[] {
  // xorshift32: short, and the same everywhere.
  let state = seed * 0x9e3779b1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % 1_000_003;
  };
  return Array.from({ length: STEPS }, () => ({
    kind: STEP_KINDS[next() % STEP_KINDS.length]!,
    a: next(),
    b: next(),
    c: next(),
  }));
}
