// A class for each named point of src/base/kill-points.ts: the process that passes it is killed there, once, and what the
// crawl needs to pass it (parsers, spill, files, an outbox, a recovery) is set up.
import { KILL_POINTS, type KillPoint } from '../../../src/base/kill-points.js';
import type { Bench, FaultClass } from './bench.js';
import { type ArmedPoint, killAt, podsCrawl, type PodsCrawl, type PodsOptions, scriptCrawl } from './crawls.js';
import type { Program } from './program.js';

interface Setting {
  readonly options?: PodsOptions;
  /** How often the point is passed before it kills: at most so often. */
  readonly passes: number;
  readonly web?: { readonly hosts: number; readonly pages: number };
  /** Another point that is armed, so that this one is passed at all. */
  readonly also?: KillPoint | `stop@${KillPoint}`;
  /** What happens during the run, so that the point is passed. */
  readonly meanwhile?: (bench: Bench, run: Program, crawl: PodsCrawl, also?: ArmedPoint) => Promise<void>;
}

const OVERSLEEPING: PodsOptions = {
  more: { fetchers_per_pod: 2, lease_seconds: 11 },
  env: { CRAWLER_STUCK_SECONDS: '60' },
};

/** A worker that is stopped for longer than its lease is refused what it does next, and cuts what it stored. */
async function oversleep(bench: Bench, run: Program, asleep: ArmedPoint): Promise<void> {
  while (run.isRunning && !asleep.struck()) await bench.pause(50);
  if (!asleep.struck()) return;
  await bench.pause(13_000);
  process.kill(asleep.pid(), 'SIGCONT');
}

/** One pod is away for a while: links for it wait in the outbox of the other. */
const podAway: Setting['meanwhile'] = async (bench, _run, crawl) => {
  await crawl.web.untilServed(40);
  crawl.servers[1]!.pause();
  await bench.pause(6_000);
  crawl.servers[1]!.resume();
};

function settingOf(point: KillPoint): Setting {
  const [room] = point.split('.') as [string];
  switch (room) {
    case 'handoff':
      return { options: { more: { parsers_per_pod: 1, handoff_dir: './handoff' } }, passes: 60 };
    case 'content-file':
      return { options: { more: { content_layout: 'files' } }, passes: 60 };
    case 'index-sort':
      return { passes: 2 };
    case 'recovery':
      return /pages/.test(point)
        ? { also: 'content-file.after-rename', options: { more: { content_layout: 'files' } }, passes: 1 }
        : { also: 'content.after-index', passes: 1 };
    case 'outbox':
      return {
        options: { redis: 2, more: { redis_socket_timeout: 1, redis_socket_connect_timeout: 1 } },
        passes: 1,
        meanwhile: podAway,
      };
    case 'spill':
      // What came back from disk is forgotten half a minute later: the crawl has to last longer.
      return {
        options: { delaySecs: /forget/.test(point) ? 0.25 : 0.02, more: { domain_head: 2, state_dir: './state' } },
        web: { hosts: 2, pages: 150 },
        passes: 3,
      };
    case 'content':
      return /cut/.test(point)
        ? {
            options: OVERSLEEPING,
            also: 'stop@content.after-index',
            passes: 1,
            meanwhile: (bench, run, _crawl, also) => oversleep(bench, run, also!),
          }
        : { passes: 20 };
    default:
      return { options: { redis: 2 }, passes: 20 };
  }
}

const onPods = (point: KillPoint): FaultClass => ({
  name: `pods/killed-${point}`,
  placement: 'pods',
  needs: ['redis'],
  ...(/^(frontier|items|content)\./.test(point) && !/cut/.test(point) ? { inCi: 'sample' } : {}),
  async act(bench) {
    const setting = settingOf(point);
    const web = await bench.web(setting.web);
    const crawl = await podsCrawl(bench, { ...setting.options, web });
    const armed = killAt(bench, point, 1 + Math.floor(bench.random() * setting.passes));
    const also = setting.also && killAt(bench, setting.also, 3 + Math.floor(bench.random() * 10));
    const points = [armed, ...(also ? [also] : [])].map(({ env }) => env.ORCRAWL_KILL_AT).join(',');
    let run = crawl.run([], { ORCRAWL_KILL_AT: points });
    await setting.meanwhile?.(bench, run, crawl, also);
    await run.ended();
    // The orchestrator itself may have passed the point: then the crawl is continued.
    if (run.facts().end === 'killed') run = crawl.resume();
    await crawl.whole(run);
    if (also?.struck() && !setting.also?.startsWith('stop@')) bench.countKill();
    if (armed.struck()) bench.countKill();
    bench.expect(armed.struck(), `no process passed ${point}`);
  },
});

/** What a script passes, too. */
const inScript = (point: KillPoint): FaultClass => ({
  name: `library/killed-${point}`,
  placement: 'library',
  inCi: 'sample',
  async act(bench) {
    const crawl = await scriptCrawl(bench, { remembers: isOfMemory(point) });
    // A script adds its seeds in one call; links ride with their settlement.
    const armed = killAt(bench, point, /add$/.test(point) ? 1 : 1 + Math.floor(bench.random() * 10));
    const first = crawl.run(armed.env);
    await first.ended();
    bench.expect(armed.struck(), `no process passed ${point}`);
    if (!armed.struck()) return;
    bench.countKill();
    await crawl.whole(crawl.run());
  },
});

/** Pages are remembered by scripts only. */
const isOfMemory = (point: KillPoint): boolean => point.startsWith('memory.');

export const killPoints: readonly FaultClass[] = [
  // No worker compacts, and shipping has its own kills: compact-kill.test.ts, s3-content.test.ts, s3-pods.test.ts.
  ...KILL_POINTS.filter((point) => !isOfMemory(point) && !/^(compact|ship|ship-items)\./.test(point)).map(onPods),
  ...KILL_POINTS.filter((point) => /^(frontier|items|memory)\./.test(point)).map(inScript),
];
