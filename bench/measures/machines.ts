// `npm run measure -- machines`: one crawl on three machines in network namespaces, whose cables are cut, cut in one
// direction, and which stand still or die (MACHINES_FAULTS of them in turn; MACHINES_HOSTS, MACHINES_PAGES per host), and
// a second one with max_pages. Needs root, iproute2 and redis-server.
import { setTimeout as delay } from 'node:timers/promises';
import { networkMissing } from '../../test/support/machines.js';
import {
  coordinatorOf,
  type MachinesCrawl,
  type RunningMachine,
  startMachines,
} from '../../test/support/machines-crawl.js';
import type { Figure } from '../measure.js';

const number = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const FAULTS = number('MACHINES_FAULTS', 20);
const HOSTS = number('MACHINES_HOSTS', 30);
const PAGES = number('MACHINES_PAGES', 240);
const LEASE_SECS = 11;
/** Long enough that the crawl outlasts the faults on a small machine. */
const DELAY_SECS = 2;
/** Longer than a lease and than the roles of coordinator and supervisor (15 s). */
const AWAY_MS = 18_000;
const MOVES_WITHIN_MS = 30_000;

type Fault = 'cut' | 'cut outward' | 'cut inward' | 'stop' | 'kill' | 'move';
const KINDS: readonly Fault[] = ['cut', 'cut outward', 'stop', 'cut inward', 'move', 'kill'];

export async function measure(): Promise<readonly Figure[]> {
  const missing = networkMissing();
  if (missing) throw new Error(missing);
  const whole = await crawlUnder(FAULTS);
  const limit = Math.floor((HOSTS * PAGES) / 3);
  const limited = await crawlUnder(Math.ceil(FAULTS / 5), limit);
  return [
    {
      what: `${whole.verdict.pages} pages on three machines: ${wordsOf(whole.faults)}`,
      measured: `${whole.verdict.lost} lost, ${whole.verdict.doubled} stored twice, ${whole.verdict.early} early, ${whole.verdict.hung} hung, ends ${whole.ends.join(' ')}, ${whole.seconds} s`,
      goal: '0 lost, 0 stored twice, 0 early, no end too soon',
    },
    {
      what: 'longest time until another machine coordinates, from when the coordinator was away',
      measured: `${Math.round(whole.slowestMoveMs / 100) / 10} s (${whole.moves} times)`,
      goal: `≤ ${MOVES_WITHIN_MS / 1_000} s`,
    },
    {
      what: `max_pages ${limit}: ${wordsOf(limited.faults)}`,
      measured: `${limited.verdict.stored} pages, ${limited.verdict.doubled} stored twice, ${limited.verdict.early} early`,
      goal: `${limit} pages, 0 stored twice, 0 early`,
    },
  ];
}

function wordsOf(faults: readonly Fault[]): string {
  const counts = KINDS.map((kind) => [kind, faults.filter((one) => one === kind).length] as const);
  return counts.flatMap(([kind, count]) => (count > 0 ? [`${kind} × ${count}`] : [])).join(', ');
}

async function crawlUnder(count: number, maxPages?: number) {
  const startedMs = performance.now();
  const crawl = await startMachines({
    ...{ pods: 3, hosts: HOSTS, pages: PAGES, delaySecs: DELAY_SECS, leaseSecs: LEASE_SECS, maxPages },
  });
  const faults: Fault[] = [];
  let slowestMoveMs = 0;
  let moves = 0;
  try {
    /** By pod. */
    const running = [0, 1, 2].map((machine) => crawl.run(machine, '--pods', String(machine)));
    await crawl.untilServed(HOSTS);
    for (let n = 0; n < count && running.some(isRunning); n++) {
      const fault = KINDS[n % KINDS.length]!;
      const pod = coordinatorOf(running) && n % 2 === 0 ? running.indexOf(coordinatorOf(running)!) : n % 3;
      faults.push(fault);
      console.log(
        `  ${Math.round((performance.now() - startedMs) / 1_000)} s: ${fault} of pod ${pod}, ${await crawl.served()} pages`,
      );
      const took = await strike(crawl, running, pod, fault);
      if (took === undefined) continue;
      moves++;
      slowestMoveMs = Math.max(slowestMoveMs, took);
    }
    const codes = await Promise.all(running.map(({ program }) => program.ended(600_000)));
    const verdict = await crawl.verdict();
    for (const example of verdict.examples) console.log(`  ${example}`);
    if (codes.some((code) => code !== 0)) {
      for (const { program } of running) console.log(`${program.stdout()}${program.stderr()}`.slice(-1_500));
    }
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    return { verdict, faults, slowestMoveMs, moves, ends: codes, seconds };
  } finally {
    await crawl.dispose();
  }
}

/** The machine with the fewest pods: with all of them on one, a cut of it would leave nobody to coordinate. */
function emptiest({ network }: MachinesCrawl, running: readonly RunningMachine[], except: number): number {
  const podsOn = (place: number): number => running.filter(({ machine }) => machine === network.machines[place]).length;
  const others = network.machines.map((_, place) => place).filter((place) => place !== except);
  return others.sort((one, other) => podsOn(one) - podsOn(other))[0]!;
}

const isRunning = ({ program }: RunningMachine): boolean => program.isRunning;

/** One fault, until its machine works again; how long it took until another coordinated, if this one did. */
async function strike(
  crawl: MachinesCrawl,
  running: RunningMachine[],
  pod: number,
  fault: Fault,
): Promise<number | undefined> {
  const struck = running[pod]!;
  const { machine } = struck;
  const wasLeading = coordinatorOf(running) === struck;
  const atMs = performance.now();
  if (fault === 'cut') machine.cut();
  else if (fault === 'cut outward') machine.cutOutward();
  else if (fault === 'cut inward') machine.cutInward();
  else if (fault === 'kill') await struck.kill();
  else struck.pause();
  let tookMs: number | undefined;
  for (const endMs = atMs + MOVES_WITHIN_MS; wasLeading && performance.now() < endMs; await delay(100)) {
    if (coordinatorOf(running) === struck && running.some(isRunning)) continue;
    tookMs = performance.now() - atMs;
    break;
  }
  if (wasLeading) tookMs ??= MOVES_WITHIN_MS;
  await delay(Math.max(0, atMs + AWAY_MS - performance.now()));
  const place = crawl.network.machines.indexOf(machine);
  if (fault === 'kill' || fault === 'move') {
    // Moved to another machine; the first comes back when the other has the pod, and is refused.
    const next = fault === 'kill' ? place : emptiest(crawl, running, place);
    const { name } = crawl.network.machines[next]!;
    running[pod] = crawl.run(next, '--pods', String(pod), '--resume');
    const hasIt = (): boolean => crawl.network.redis(pod, 'HGET', 'pod:owner', 'identity').includes(`"${name}"`);
    for (let tries = 0; !hasIt() && tries < 300; tries++) await delay(200);
    if (fault === 'move') {
      struck.resume();
      await struck.program.ended();
    }
  } else {
    machine.mend();
    if (fault === 'stop') struck.resume();
  }
  // It works again before the next fault.
  const served = await crawl.served();
  for (let tries = 0; (await crawl.served()) < served + 10 && running.some(isRunning) && tries < 200; tries++)
    await delay(100);
  return tookMs;
}
