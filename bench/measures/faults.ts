// Every fault class over and over: processes killed at named points and at random, disks, Redis, networks, clocks, pages and
// servers that fail. The verdict is that of test/fault/web/checker.mjs, which shares no code with src/.
// A round is every class once, with a seed of its own; it takes a quarter of an hour or more, and rounds add up over several
// runs. FAULTS_TIMES=N takes N rounds, FAULTS_ONLY=REGEXP some classes (not recorded), FAULTS_KEEP=1 keeps the folders.
import { FAULTS } from '../../test/fault/suite/case.js';
import { type FaultClass, missingFor, type Report, runClass } from '../../test/fault/suite/bench.js';
import { FAULT_CLASSES } from '../../test/fault/suite/classes.js';
import type { Figure } from '../measure.js';
import { originOf, type RoundOrigin, roundsOf } from './rounds.js';

const TIMES = Number(process.env.FAULTS_TIMES ?? 5);
const SIDE_BY_SIDE = Number(process.env.FAULTS_SIDE_BY_SIDE ?? 2);
const LEAST = { kills: 200, pages: 50_000 };
const ROUNDS = roundsOf<Round>('faults');

/** What one round found: every class once. */
interface Round extends RoundOrigin {
  readonly seed: number;
  readonly classes: number;
  readonly skipped: number;
  readonly kills: number;
  readonly pages: number;
  readonly refetched: number;
  readonly saidMissing: number;
  readonly faults: Readonly<Record<(typeof FAULTS)[number], number>>;
  /** Classes whose run did not end as documented. */
  readonly failed: readonly string[];
}

export async function measure(): Promise<Figure[]> {
  const { FAULTS_ONLY, FAULTS_SEED } = process.env;
  const only = new RegExp(FAULTS_ONLY ?? '');
  const classes = FAULT_CLASSES.filter(({ name }) => only.test(name));
  const skipped = classes.filter((one) => missingFor(one) !== undefined);
  for (const one of skipped) console.log(`  skipped: ${one.name}: ${missingFor(one)}`);
  const before = FAULTS_ONLY === undefined ? ROUNDS.read() : [];
  const first = Number(FAULTS_SEED ?? Math.max(0, ...before.map(({ seed }) => seed)) + 1);
  const rounds: Round[] = [...before];
  for (let seed = first; seed < first + TIMES; seed++) {
    const reports = await playRound(
      classes.filter((one) => !skipped.includes(one)),
      seed,
    );
    const round = roundOf(reports, seed, skipped.length);
    rounds.push(round);
    if (FAULTS_ONLY === undefined) ROUNDS.add(round);
  }
  return figuresOf(rounds);
}

async function playRound(classes: readonly FaultClass[], seed: number): Promise<Report[]> {
  const reports: Report[] = [];
  const work = classes[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      for (const one of work) {
        const report = await runClass(one, seed, { isKept: process.env.FAULTS_KEEP === '1' });
        reports.push(report);
        console.log(`  ${reports.length}/${classes.length} ${lineOf(report)}`);
      }
    }),
  );
  return reports;
}

function roundOf(reports: readonly Report[], seed: number, skipped: number): Round {
  const sum = (of: (report: Report) => number): number => reports.reduce((total, report) => total + of(report), 0);
  return {
    seed,
    ...originOf(),
    classes: reports.length,
    skipped,
    kills: sum(({ kills }) => kills),
    pages: sum(({ verdict }) => verdict?.pages ?? 0),
    refetched: sum(({ verdict }) => verdict?.refetched ?? 0),
    saidMissing: sum(({ verdict }) => verdict?.saidMissing ?? 0),
    faults: Object.fromEntries(
      FAULTS.map((name) => [name, sum(({ verdict }) => verdict?.[name] ?? 0)]),
    ) as Round['faults'],
    failed: reports.filter(({ complaints, verdict }) => complaints.length > 0 || !verdict).map(({ name }) => name),
  };
}

function lineOf({ name, seed, kills, seconds, verdict, complaints, ends }: Report): string {
  const bad = verdict ? FAULTS.filter((fault) => verdict[fault] > 0).map((fault) => `${verdict[fault]} ${fault}`) : [];
  const isGood = verdict !== undefined && bad.length === 0 && complaints.length === 0;
  const said = verdict && verdict.saidMissing > 0 ? `, ${verdict.saidMissing} missing and said` : '';
  const head = `${isGood ? 'ok  ' : 'FAIL'} ${name} (seed ${seed}): ${verdict?.stored}/${verdict?.pages} pages, ${kills} kills, ${seconds} s${said}`;
  if (isGood) return head;
  return [head, ...[...bad, ...complaints, ...(verdict?.examples ?? []), ...ends].map((line) => `       ${line}`)].join(
    '\n',
  );
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0);
  const fault = (name: (typeof FAULTS)[number]): number => sum(({ faults }) => faults[name]);
  const failed = rounds.flatMap((round) => round.failed);
  const classes = Math.min(...rounds.map((round) => round.classes));
  const when = rounds.map(({ commit, day }) => `${commit} ${day}`).join(', ');
  return [
    {
      what: 'classes of faults, each how often (commit and day of each round)',
      measured: `${classes}, ${rounds.length} times (${when})`,
      goal: '≥ 33, ≥ 5 times',
    },
    { what: 'classes skipped', measured: String(Math.max(...rounds.map((round) => round.skipped))), goal: '0' },
    { what: 'kills', measured: String(sum(({ kills }) => kills)), goal: `≥ ${LEAST.kills}` },
    { what: 'pages', measured: String(sum(({ pages }) => pages)), goal: `≥ ${LEAST.pages}` },
    { what: 'requests repeated', measured: String(sum(({ refetched }) => refetched)), goal: '' },
    {
      what: 'lost / doubled / early / hung',
      measured: `${fault('lost')} / ${fault('doubled')} / ${fault('early')} / ${fault('hung')}`,
      goal: '0 / 0 / 0 / 0',
    },
    { what: 'incomplete ends that do not say so', measured: String(fault('unsaid')), goal: '0' },
    {
      what: 'missing because the fault destroyed it, and said',
      measured: String(sum(({ saidMissing }) => saidMissing)),
      goal: '',
    },
    { what: 'damaged files, lines and index entries', measured: String(fault('damaged')), goal: '0' },
    {
      what: 'runs that did not end as documented',
      measured: failed.length === 0 ? '0' : `${failed.length}: ${[...new Set(failed)].join(', ')}`,
      goal: '0',
    },
  ];
}
