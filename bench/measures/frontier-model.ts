// The model beside every backend of the frontier, for millions of steps: they must not differ. Redis is one backend in four
// settings, which share its steps. Rounds add up over several runs while the code of the frontier stays the same.
// MODEL_BACKENDS (names with commas) and MODEL_STEPS choose what is run, MODEL_SIDE_BY_SIDE how many histories at the same
// time; progress comes with each round.
import { MODEL_BACKENDS, type ModelBackendName } from '../../test/support/model-worlds.js';
import { runModel, tellFailure } from '../../test/support/model-runner.js';
import type { Figure } from '../measure.js';
import { commitOf, originOf, type RoundOrigin, roundsOf } from './rounds.js';
import { measureShare } from './share.js';

const STEPS = Number(process.env.MODEL_STEPS ?? 5_000_000 * measureShare());
const STEPS_PER_ROUND = 50_000;
const ROUNDS = roundsOf<Round>('frontier-model');

/** Some histories on one backend. */
interface Round extends RoundOrigin {
  readonly backend: ModelBackendName;
  /** The code of the frontier, as git names it. */
  readonly frontier: string;
  readonly firstSeed: number;
  readonly histories: number;
  readonly steps: number;
  readonly failures: number;
  readonly secs: number;
}

const NAMES = Object.keys(MODEL_BACKENDS) as ModelBackendName[];
const isRedis = (name: ModelBackendName): boolean => name.startsWith('redis');
function stepsOn(name: ModelBackendName): number {
  if (isRedis(name)) return STEPS / NAMES.filter(isRedis).length;
  // Every step is a transaction or more: a hundredth takes as long as all of the others.
  return name === 'postgres' ? STEPS / 100 : STEPS;
}
/** A server answers while others compute; an embedded store computes itself. */
const sideBySide = (name: ModelBackendName): number =>
  Number(process.env.MODEL_SIDE_BY_SIDE ?? (/^redis|^postgres/.test(name) ? 4 : 1));

export const isPart = process.env.MODEL_BACKENDS !== undefined;

export async function measure(): Promise<Figure[]> {
  const chosen = process.env.MODEL_BACKENDS?.split(',') ?? NAMES;
  const frontier = commitOf('HEAD:src/frontier');
  const figures: Figure[] = [];
  for (const name of NAMES.filter((one) => chosen.includes(one))) {
    const rounds = ROUNDS.read().filter((round) => round.backend === name && round.frontier === frontier);
    while (sumOf(rounds, 'steps') < stepsOn(name) && sumOf(rounds, 'failures') === 0) {
      const round = await playRound(name, 1 + sumOf(rounds, 'histories'), frontier);
      rounds.push(round);
      ROUNDS.add(round);
      console.log(`  ${name}: ${sumOf(rounds, 'steps')} steps, ${rateOf(rounds)} steps/s`);
    }
    figures.push(figureOf(name, rounds));
  }
  return figures;
}

async function playRound(backend: ModelBackendName, firstSeed: number, frontier: string): Promise<Round> {
  const startedMs = performance.now();
  const { histories, steps, failures } = await runModel(backend, {
    steps: Math.min(STEPS_PER_ROUND, stepsOn(backend)),
    firstSeed,
    sideBySide: sideBySide(backend),
    maxFailures: 3,
  });
  for (const failure of failures) console.log(tellFailure(backend, failure));
  const secs = Math.round((performance.now() - startedMs) / 1_000);
  return { backend, frontier, firstSeed, histories, steps, failures: failures.length, secs, ...originOf() };
}

function figureOf(name: ModelBackendName, rounds: readonly Round[]): Figure {
  const steps = sumOf(rounds, 'steps');
  const histories = sumOf(rounds, 'histories');
  return {
    what: `${name}: differences`,
    measured: `${sumOf(rounds, 'failures')} in ${steps} steps, ${histories} histories (${rateOf(rounds)} steps/s, ${rounds.at(-1)?.day})`,
    goal: `0 in ${stepsOn(name)} steps${isRedis(name) ? ', a quarter of those on Redis' : ''}`,
  };
}

const rateOf = (rounds: readonly Round[]): number =>
  Math.round(sumOf(rounds, 'steps') / Math.max(1, sumOf(rounds, 'secs')));

const sumOf = (rounds: readonly Round[], of: 'steps' | 'histories' | 'failures' | 'secs'): number =>
  rounds.reduce((total, round) => total + round[of], 0);
