// One case of the suite: some hostile kinds among 40 good pages, one way. The verdict is data: good pages that are
// missing or mixed up, hostile ones without an end, and the CPU time beyond that of the good pages alone.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startRedis } from '../../support/redis-server.js';
import { type AmidWeb, GOOD_PAGES, type Kind } from './web.js';
import { go, type Way } from './ways.js';

export interface Verdict {
  readonly way: Way;
  readonly kinds: readonly string[];
  readonly lost: readonly string[];
  readonly mixedUp: readonly string[];
  /** Hostile kinds without an end of their own. */
  readonly endless: readonly string[];
  readonly ends: Readonly<Record<string, string>>;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly exit: string;
  /** The end of what it said, when something is wrong. */
  readonly said: string;
}

export interface CaseOptions {
  readonly web: AmidWeb;
  readonly way: Way;
  readonly kinds: readonly Kind[];
  readonly browserPath: string | undefined;
  /** Default 40; a command for each page (scrape) makes do with two. */
  readonly goodPages?: number;
}

/** Ends that mean that a program died, not that a page failed. */
const DEATHS = /^exit (?:134|SIG|1$)/;

export async function runCase({ web, way, kinds, browserPath, goodPages }: CaseOptions): Promise<Verdict> {
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-amid-'));
  const redis = way === 'pod with parser' ? await startRedis() : undefined;
  try {
    const count = goodPages ?? (way === 'scrape' ? 2 : GOOD_PAGES);
    const good = Array.from({ length: count }, (_, number) => web.good(number));
    const hostile = kinds.map(({ name }) => web.hostile(name));
    const { ends, mixedUp, finished } = await go(way, { folder, good, hostile, redis, browserPath });
    const lost = good.filter((url) => ends.get(url) !== 'stored');
    const endless = kinds.filter(({ name }) => {
      const end = ends.get(web.hostile(name));
      return end === undefined || DEATHS.test(end);
    });
    const isBad = lost.length > 0 || endless.length > 0 || finished.isKilled;
    return {
      way,
      kinds: kinds.map(({ name }) => name),
      lost,
      mixedUp,
      endless: endless.map(({ name }) => name),
      ends: Object.fromEntries(kinds.map(({ name }) => [name, ends.get(web.hostile(name)) ?? 'nothing'])),
      cpuMs: finished.cpuMs,
      wallMs: finished.wallMs,
      exit: finished.isKilled ? 'killed: it did not end' : String(finished.code ?? finished.signal),
      said: isBad ? finished.stderr.slice(-2_000) : '',
    };
  } finally {
    await redis?.dispose();
    if (process.env.AMID_KEEP !== '1')
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
