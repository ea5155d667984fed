// `npm run measure -- cluster`: a crawl of at least 20,000 pages on a Redis Cluster of six servers with
// `durability: replicated`, while masters are killed 30 times and pods' slots move ten times (CLUSTER_KILLS,
// CLUSTER_MOVES, CLUSTER_PAGES for less); without it, where what a failover lost is counted; and a small crawl whose slot
// moves to a master that dies before its replica has heard of the keys, which no client can prevent.
// CLUSTER_PARTS=replicated,process,moved chooses.
import { setTimeout as delay } from 'node:timers/promises';
import { podPrefix, slotOf } from '../../src/frontier/redis/server/slots.js';
import { crawlOnPods, podOf, type PodsReport, type RunningCrawl } from '../../test/support/pods-crawl.js';
import { type RedisCluster, startCluster } from '../../test/support/redis-cluster.js';
import type { Figure } from '../measure.js';

const PODS = 6;
const HOSTS = 200;
const number = (name: string, usual: number): number => Number(process.env[name] ?? usual);
/** The crawl must outlast the blows: a blow with its recovery takes 5 to 12 s, a host's 100 pages as many delays. */
const DELAY_SECS = number('CLUSTER_DELAY', 5);
const PAGES = number('CLUSTER_PAGES', 20_000);
const KILLS = number('CLUSTER_KILLS', 30);
const MOVES = number('CLUSTER_MOVES', 10);
/** The crawl must go on by itself so soon after each. */
const GOES_ON_MS = 15_000;
const PATIENCE_MS = 4 * 3_600_000;

interface Blows {
  readonly kills: number;
  readonly moves: number;
  /** From each blow, the longest time until the struck pod got its next page. */
  readonly slowestMs: number;
}

const PARTS = ['replicated', 'process', 'moved'];
const parts = PARTS.filter((part) => process.env.CLUSTER_PARTS?.split(',').includes(part) ?? true);
export const isPart = parts.length < PARTS.length;

export async function measure(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  if (parts.includes('replicated')) {
    figures.push(...rows('durability: replicated', await crawl('replicated'), '0 lost, 0 stored twice, 0 early'));
  }
  if (parts.includes('process')) {
    const plain = await crawl('process');
    figures.push(...rows('durability: process', plain, '0 stored twice; what is lost is counted'), {
      what: 'durability: process: what the crawl said of calls that a new master did not know',
      measured: /came back without/.test(plain.report.output) ? 'said so' : 'nothing was forgotten',
      goal: 'said',
    });
  }
  if (parts.includes('moved')) figures.push(await movedAndLost());
  return figures;
}

function rows(name: string, { report, blows }: { report: PodsReport; blows: Blows }, goal: string): Figure[] {
  return [
    {
      what: `${name}: ${report.expected} pages, ${blows.kills} masters killed, ${blows.moves} slots moved`,
      measured: `${report.missing} lost, ${report.duplicates} stored twice, ${report.violations} early, exit ${report.exitCode}, ${report.seconds} s`,
      goal,
    },
    {
      what: `${name}: longest time from a blow to the next page of the pod it struck`,
      measured: `${Math.round(blows.slowestMs / 100) / 10} s`,
      goal: `≤ ${GOES_ON_MS / 1_000} s`,
    },
  ];
}

async function movedAndLost(): Promise<Figure> {
  const cluster = await startCluster();
  try {
    const report = await crawlOnPods({
      ...{ pods: 3, hosts: 12, pagesPerHost: 20, delaySecs: 0.2, cluster, patienceMs: PATIENCE_MS },
      more: 'durability: replicated',
      during: () => cluster.loseMovedSlot(slotOf(podPrefix('orcrawl', 1, 3))),
    });
    const [said = 'nothing said'] = /[A-Z]+_EMPTIED|came back without/.exec(report.output) ?? [];
    return {
      what: 'durability: replicated: the slot of a pod moves to a master that dies before its replica has heard of it',
      measured: `${said}, exit ${report.exitCode}; ${report.missing} of ${report.expected} pages not stored, ${report.duplicates} twice, ${report.violations} early`,
      goal: 'said',
    };
  } finally {
    await cluster.dispose();
  }
}

async function crawl(durability: 'replicated' | 'process'): Promise<{ report: PodsReport; blows: Blows }> {
  const cluster = await startCluster();
  let blows: Blows = { kills: 0, moves: 0, slowestMs: 0 };
  try {
    const report = await crawlOnPods({
      ...{ pods: PODS, hosts: HOSTS, pagesPerHost: Math.ceil(PAGES / HOSTS), delaySecs: DELAY_SECS },
      ...{ cluster, patienceMs: PATIENCE_MS, more: `durability: ${durability}` },
      flags: ['--fresh'],
      async during(running) {
        blows = await strike(cluster, running);
      },
    });
    return { report, blows };
  } finally {
    await cluster.dispose();
  }
}

/** Kills and moves in turn, each when the cluster is whole again and the crawl has gone on. */
async function strike(cluster: RedisCluster, { web, orchestrator }: RunningCrawl): Promise<Blows> {
  const isOver = () => orchestrator.exitCode !== null;
  const blows = { kills: 0, moves: 0, slowestMs: 0 };
  const everyMove = Math.max(1, Math.round((KILLS + MOVES) / Math.max(1, MOVES)));
  for (let blow = 0; blow < KILLS + MOVES && !isOver(); blow++) {
    const slot = slotOf(podPrefix('orcrawl', blow % PODS, PODS));
    const isMove = blow % everyMove === everyMove - 1 && blows.moves < MOVES;
    const served = async () => sumOf(await Promise.all(hostsOf(web, blow % PODS).map((host) => web.served(host))));
    const isDone = (count: number) => count >= hostsOf(web, blow % PODS).length * Math.ceil(PAGES / HOSTS);
    const startedMs = performance.now();
    if (isMove) await cluster.moveSlot(slot);
    else await cluster.failOver(slot);
    if (isMove) blows.moves++;
    else blows.kills++;
    // What was under way at the blow does not count: a kill takes effect at once, a move when it is done.
    const before = await served();
    for (let now = before; now === before && !isDone(now) && !isOver(); now = await served()) await delay(100);
    const tookMs = performance.now() - startedMs;
    blows.slowestMs = Math.max(blows.slowestMs, tookMs);
    console.log(`  ${isMove ? 'move' : 'kill'} ${blow + 1}: ${Math.round(tookMs)} ms, ${await web.served()} pages`);
    await cluster.untilWhole();
  }
  return blows;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** The numbers of the hosts that a pod owns. */
function hostsOf(web: RunningCrawl['web'], pod: number): number[] {
  return Array.from({ length: HOSTS }, (_, host) => host).filter((host) => podOf(web.url(host), PODS) === pod);
}
