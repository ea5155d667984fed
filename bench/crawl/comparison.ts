// Runs the contestants in turn, several rounds, and makes the table: medians and ranges of one interleaved run.
import { type Contestant, type Cost, type RunSettings, runContestant } from './contestants.js';
import type { Web } from './webs.js';

export interface Row {
  readonly contestant: Contestant;
  readonly msPerPage: number;
  readonly lowest: number;
  readonly highest: number;
  readonly pagesPerCpuSec: number;
  readonly wallMsPerPage: number;
  readonly rssMb: number;
  readonly pages: number;
}

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1]!;

function rowOf(contestant: Contestant, costs: readonly Cost[]): Row {
  const perPage = costs.map(({ cpuMs, pages }) => cpuMs / pages);
  const msPerPage = median(perPage);
  return {
    contestant,
    msPerPage,
    lowest: Math.min(...perPage),
    highest: Math.max(...perPage),
    pagesPerCpuSec: 1000 / msPerPage,
    wallMsPerPage: median(costs.map(({ wallMs, pages }) => wallMs / pages)),
    rssMb: Math.max(...costs.map(({ rssMb }) => rssMb)),
    pages: costs[0]!.pages,
  };
}

export function compare(
  contestants: readonly Contestant[],
  web: Web,
  settings: RunSettings & { rounds: number; onCost?: (contestant: Contestant, cost: Cost) => void },
): Row[] {
  const costs = new Map<Contestant, Cost[]>(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < settings.rounds; round++) {
    for (const contestant of contestants) {
      const cost = runContestant(contestant, web, settings);
      settings.onCost?.(contestant, cost);
      costs.get(contestant)!.push(cost);
    }
  }
  return contestants.map((contestant) => rowOf(contestant, costs.get(contestant)!));
}

export const HEAD = ['', 'CPU-ms per page', 'pages per CPU-s', 'peak RSS', 'of the bare loop', '× Crawlee', 'pages'];

/** Rows of text; ratios are of pages per CPU-second, against Crawlee with memory storage, its faster way. */
export function tableOf(rows: readonly Row[]): string[][] {
  const rateOf = (name: string): number | undefined =>
    rows.find(({ contestant }) => contestant.name === name)?.pagesPerCpuSec;
  const [bare, crawlee] = [rateOf('bare'), rateOf('crawlee-memory')];
  const ratio = (rate: number, of: number | undefined): string => (of === undefined ? '–' : (rate / of).toFixed(2));
  return rows.map((row) => [
    row.contestant.title,
    `${row.msPerPage.toFixed(2)} (${row.lowest.toFixed(2)}–${row.highest.toFixed(2)})`,
    String(Math.round(row.pagesPerCpuSec)),
    `${Math.round(row.rssMb)} MB`,
    ratio(row.pagesPerCpuSec, bare),
    ratio(row.pagesPerCpuSec, crawlee),
    String(row.pages),
  ]);
}
