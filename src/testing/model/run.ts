// One history from a seed: its setting, its steps, and the end at which nothing may be pending.
// A difference is reported with the step at which it was found.
import { createHandClock } from '../conformance/bench.js';
import { createModelMachine } from './machine.js';
import type { MakeWorld, ModelWorld } from './store.js';
import { createChance, randomSetting, randomSteps, type Setting, type SettingChoices, type Step } from './steps.js';

export interface History {
  readonly setting: Setting;
  readonly steps: readonly Step[];
}

export interface HistoryOptions {
  readonly choices: SettingChoices;
  readonly faults?: Readonly<Record<string, number>>;
  readonly steps: number;
}

export function historyOf(seed: number, { choices, faults, steps }: HistoryOptions): History {
  const chance = createChance(seed);
  return { setting: randomSetting(chance, choices), steps: randomSteps(chance, steps, faults) };
}

/** Where and how a history failed. */
export class HistoryFailure extends Error {
  override readonly name = 'HistoryFailure';
  constructor(
    readonly at: number,
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Far beyond what a history takes on a busy machine: one that hangs is reported with its step. */
const LONGEST_MS = 300_000;

/** Plays a history on a fresh world; throws a `HistoryFailure` where backend and model differ. */
export async function playHistory({ setting, steps }: History, make: MakeWorld): Promise<void> {
  let at = 0;
  let doing = 'opening';
  let world: ModelWorld | undefined;
  let limit: NodeJS.Timeout | undefined;
  async function play(): Promise<void> {
    world = await make(setting, createHandClock());
    try {
      const machine = createModelMachine(world, setting);
      for (; at < steps.length; at++) {
        doing = steps[at]!.kind;
        await machine.play(steps[at]!);
      }
      doing = 'the end';
      await machine.drain();
    } finally {
      doing += ', closing';
      await world.dispose();
    }
  }
  const stuck = new Promise<never>((_resolve, reject) => {
    const tell = (): void => {
      reject(new Error(`no end after ${LONGEST_MS} ms, at ${doing}`));
      // Its processes are not left behind, if they can still be ended.
      void world?.dispose().catch(() => undefined);
    };
    limit = setTimeout(tell, LONGEST_MS);
  });
  try {
    await Promise.race([play(), stuck]);
  } catch (error) {
    throw new HistoryFailure(at, error);
  } finally {
    clearTimeout(limit);
  }
}
