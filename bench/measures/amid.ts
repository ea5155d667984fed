// Every hostile kind of test/amid among 40 good pages, fetched in every way, with a heap of 512 MB.
// AMID_WAYS=batch,pod and AMID_KINDS=REGEXP take some, AMID_GROUP=N says how many kinds share a run (default 8).
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import { MAX_CPU_MS, runInGroups, type WayReport } from '../../test/amid/suite/groups.js';
import { allKinds, startWeb } from '../../test/amid/suite/web.js';
import { type Way, WAYS } from '../../test/amid/suite/ways.js';
import type { Figure } from '../measure.js';

/** Ways are measured one by one, too. */
export const isPart = process.env.AMID_WAYS !== undefined;

export async function measure(): Promise<Figure[]> {
  const only = new RegExp(process.env.AMID_KINDS ?? '');
  const ways = (process.env.AMID_WAYS?.split(',') ?? WAYS) as readonly Way[];
  const groupSize = Number(process.env.AMID_GROUP ?? 8);
  const kinds = (await allKinds()).filter(({ name }) => only.test(name));
  const browserPath = process.env.ORCRAWL_DEFAULT_BROWSER_PATH ?? findBrowser({ headless: true, hasProfile: true });
  const web = await startWeb();
  const reports = new Map<Way, WayReport>();
  try {
    for (const way of ways) {
      // Outside of a browser the scripts of a page are text: what they do is for browsers.
      const some = kinds.filter(({ family }) => way === 'browser' || family !== 'browser');
      const report = await runInGroups({
        web,
        way,
        kinds: some,
        groupSize,
        browserPath,
        onRun(verdict, isGood) {
          const { lost, endless, mixedUp, cpuMs, wallMs, exit, said } = verdict;
          const ends = Object.entries(verdict.ends).map(([kind, end]) => `${kind} ${end}`);
          console.log(
            `  ${isGood ? 'ok  ' : 'FAIL'} ${way}: lost ${lost.length}, mixed up ${mixedUp.length}, no end ${endless.join(' ') || 0}, ` +
              `CPU ${cpuMs} ms, ${Math.round(wallMs / 1_000)} s, exit ${exit}: ${ends.join(', ')}`,
          );
          if (!isGood && said !== '') console.log(said.replace(/^/gm, '       '));
        },
      });
      reports.set(way, report);
    }
  } finally {
    await web.close();
  }
  return [...reports].map(([way, report]) => figureOf(way, report));
}

function figureOf(way: Way, { kinds, runs, bad, mostCpuMs }: WayReport): Figure {
  const named = (of: WayReport['bad']) =>
    of.length === 0 ? '0' : `${of.length}: ${of.map(({ kinds }) => kinds.join(' ')).join(', ')}`;
  const lost = bad.reduce((sum, verdict) => sum + verdict.lost.length + verdict.mixedUp.length, 0);
  const endless = bad.filter((verdict) => verdict.endless.length > 0);
  const costly = bad.filter((verdict) => verdict.lost.length + verdict.endless.length === 0);
  return {
    what: `${way}: good pages lost or mixed up / hostile ones without a code or result / over ${MAX_CPU_MS / 1_000} s of CPU`,
    measured: `${lost} / ${named(endless)} / ${named(costly)} of ${kinds} kinds in ${runs} runs, at most ${(mostCpuMs / 1_000).toFixed(1)} s of CPU beyond the good pages`,
    goal: '0 / 0 / 0 of ≥ 40',
  };
}
