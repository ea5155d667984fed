// Every fault class over and over: processes killed at named points and at random, disks, Redis, networks, clocks, pages and
// servers that fail. The verdict is that of test/fault/web/checker.mjs, which shares no code with src/.
// FAULTS_ONLY=REGEXP takes some classes, FAULTS_TIMES=N repeats each N times, FAULTS_KEEP=1 keeps the folders.
import { FAULTS } from '../../test/fault/suite/case.js';
import { type FaultClass, missingFor, type Report, runClass } from '../../test/fault/suite/bench.js';
import { FAULT_CLASSES } from '../../test/fault/suite/classes.js';
import type { Figure } from '../measure.js';

const TIMES = Number(process.env.FAULTS_TIMES ?? 5);
const SEED = Number(process.env.FAULTS_SEED ?? 1);
const SIDE_BY_SIDE = Number(process.env.FAULTS_SIDE_BY_SIDE ?? 2);
const LEAST = { kills: 200, pages: 50_000 };

export async function measure(): Promise<Figure[]> {
  const only = new RegExp(process.env.FAULTS_ONLY ?? '');
  const classes = FAULT_CLASSES.filter(({ name }) => only.test(name));
  const skipped = classes.filter((one) => missingFor(one) !== undefined);
  for (const one of skipped) console.log(`  skipped: ${one.name}: ${missingFor(one)}`);
  const plan: { one: FaultClass; seed: number }[] = [];
  for (let time = 0; time < TIMES; time++) {
    for (const one of classes) if (!skipped.includes(one)) plan.push({ one, seed: SEED + time });
  }
  const reports: Report[] = [];
  const work = plan[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      for (const { one, seed } of work) {
        const report = await runClass(one, seed, process.env.FAULTS_KEEP === '1');
        reports.push(report);
        console.log(`  ${reports.length}/${plan.length} ${lineOf(report)}`);
      }
    }),
  );
  return figuresOf(reports, classes.length - skipped.length, skipped.length);
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

function figuresOf(reports: readonly Report[], classes: number, skipped: number): Figure[] {
  const sum = (of: (report: Report) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const fault = (name: (typeof FAULTS)[number]): number => sum(({ verdict }) => verdict?.[name] ?? 0);
  const failed = reports.filter(({ complaints, verdict }) => complaints.length > 0 || !verdict);
  return [
    { what: 'classes of faults, each how often', measured: `${classes}, ${TIMES} times`, goal: '≥ 33, ≥ 5 times' },
    { what: 'classes skipped', measured: String(skipped), goal: '0' },
    { what: 'kills', measured: String(sum(({ kills }) => kills)), goal: `≥ ${LEAST.kills}` },
    { what: 'pages', measured: String(sum(({ verdict }) => verdict?.pages ?? 0)), goal: `≥ ${LEAST.pages}` },
    { what: 'requests repeated', measured: String(sum(({ verdict }) => verdict?.refetched ?? 0)), goal: '' },
    {
      what: 'lost / doubled / early / hung',
      measured: `${fault('lost')} / ${fault('doubled')} / ${fault('early')} / ${fault('hung')}`,
      goal: '0 / 0 / 0 / 0',
    },
    { what: 'incomplete ends that do not say so', measured: String(fault('unsaid')), goal: '0' },
    {
      what: 'missing because the fault destroyed it, and said',
      measured: String(sum(({ verdict }) => verdict?.saidMissing ?? 0)),
      goal: '',
    },
    { what: 'damaged files, lines and index entries', measured: String(fault('damaged')), goal: '0' },
    {
      what: 'runs that did not end as documented',
      measured:
        failed.length === 0 ? '0' : `${failed.length}: ${[...new Set(failed.map(({ name }) => name))].join(', ')}`,
      goal: '0',
    },
  ];
}
