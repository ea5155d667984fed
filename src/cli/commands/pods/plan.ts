// `orcrawl plan` computes what a crawl needs; `orcrawl bench --quick` measures the constants it uses.
// Promise: every number comes from the model in docs/scale.md, and it says which constants it used.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { availableParallelism, totalmem } from 'node:os';
import { statfsSync } from 'node:fs';
import { countText } from '../../../observe/figures.js';
import {
  limitsOf,
  type MachineConstants,
  type Plan,
  planCrawl,
  type PlanRequest,
  REFERENCE_MACHINE,
} from '../../../pods/operate/plan.js';
import { positiveNumber, seconds } from '../../arguments.js';
import { EXIT } from '../../exit-codes.js';
import { figuresFile, loadFigures, measureMachine, saveFigures } from '../../machine-figures.js';
import { complain, say, shown } from '../../terminal.js';

interface PlanFlags {
  readonly pages: number;
  readonly hours: number;
  readonly pageKb: number;
  readonly delay: number;
  readonly newUrls: number;
  readonly domains?: number;
  readonly dedup: 'exact' | 'bloom';
  readonly storeRawHtml?: boolean;
  readonly machine?: string;
  readonly gbit?: number;
  readonly json?: boolean;
}

/** A large count, such as `1e9` or `500000`. */
export function largeCount(text: string): number {
  const value = /^\d+(?:\.\d+)?(?:e\d{1,2})?$/i.test(text.trim()) ? Number(text) : NaN;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('Expected a count such as 500000 or 1e9.');
}

export function addPlanCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('plan')
    .summary('what a crawl on pods needs')
    .description(
      'Prints the cores, pods, domains, memory, disk and network a crawl needs, and the first limit of this machine.',
    )
    .requiredOption('--pages <N>', 'pages to crawl, such as 1e9', largeCount)
    .requiredOption('--hours <N>', 'hours it may take', positiveNumber)
    .option('--page-kb <KB>', 'average page size, decompressed', positiveNumber, 250)
    .option('--delay <SECONDS>', 'delay between requests to a domain', seconds, 70)
    .option('--new-urls <N>', 'new URLs per page', positiveNumber, 10)
    .option('--domains <N>', 'domains the crawl discovers (default: twice those in rotation)', largeCount)
    .addOption(new Option('--dedup <KIND>', 'how seen URLs are stored').choices(['exact', 'bloom']).default('exact'))
    .option('--store-raw-html', 'also store the HTML')
    .option('--gbit <N>', 'network speed of this machine', positiveNumber)
    .option('--machine <FILE>', 'figures of another machine, from orcrawl bench --quick --output')
    .option('--json', 'print everything as JSON')
    .addHelpText('after', '\nExample:\n  $ orcrawl plan --pages 1e9 --hours 30\n')
    .action(async (flags: PlanFlags) => onExit(await plan(flags)));
}

async function plan(flags: PlanFlags): Promise<number> {
  const file = flags.machine ?? figuresFile();
  const figures = await loadFigures(file);
  const machine: MachineConstants = figures ?? REFERENCE_MACHINE;
  const request: PlanRequest = {
    pages: flags.pages,
    hours: flags.hours,
    pageKb: flags.pageKb,
    delaySeconds: flags.delay,
    newUrlsPerPage: flags.newUrls,
    domains: flags.domains,
    dedup: flags.dedup,
    storeRawHtml: flags.storeRawHtml === true,
  };
  const needed = planCrawl(request, machine);
  const limits = limitsOf(needed, { ...thisMachine(), gbitPerSecond: flags.gbit }, machine);
  if (flags.json) {
    say(JSON.stringify({ request, machine, plan: needed, limits }, null, 2));
    return EXIT.done;
  }
  for (const line of planLines(request, needed)) say(line);
  const [first] = limits as [(typeof limits)[number]];
  const verdict =
    first.ratio <= 1 ? 'fits this machine; first limit would be' : 'does not fit this machine; first limit:';
  say(`\nIt ${verdict} ${first.what} (${limits.map(({ what, ratio }) => `${what} ${percent(ratio)}`).join(', ')}).`);
  if (figures) say(`Constants measured ${figures.measuredAt.slice(0, 10)}, ${shown(file)}.`);
  else complain('warning: this machine was not measured, using reference constants; run orcrawl bench --quick');
  return EXIT.done;
}

const percent = (ratio: number): string => `${countText(Math.max(1, ratio * 100))} %`;
const number = (value: number): string => (value >= 100 ? countText(value) : String(Number(value.toPrecision(3))));

function thisMachine(): { cores: number; memoryGb: number; diskTb: number } {
  const { bavail, bsize } = statfsSync('.');
  return { cores: availableParallelism(), memoryGb: totalmem() / 1e9, diskTb: (bavail * bsize) / 1e12 };
}

function planLines({ pages, hours, delaySeconds }: PlanRequest, needed: Plan): string[] {
  return [
    `${countText(pages)} pages in ${number(hours)} hours: ${number(needed.pagesPerSecond)} pages per second`,
    '',
    `  Cores:    ${countText(needed.cores)}: ${countText(needed.fetcherCores)} for fetchers (${number(needed.cpuMsPerPage)} CPU-ms per page), ${countText(needed.storeCores)} for stores`,
    `  Pods:     ${countText(needed.pods)}, with ${countText(needed.fetchersPerPod)} fetchers each`,
    `  Domains:  ${countText(needed.domainsInRotation)} in rotation with a delay of ${number(delaySeconds)} s; at most ${countText(needed.pagesPerDomainAtMost)} pages each`,
    `  Memory:   ${number(needed.memoryGb)} GB: ${number(needed.storeGb)} GB of stores (${number(needed.seenUrls)} URLs seen) plus room for rewrites, the rest for fetchers`,
    `  Disk:     ${number(needed.diskTb)} TB, of which ${number(needed.contentTb)} TB content; ${number(needed.diskMbPerSecond)} MB/s`,
    `  Network:  ${number(needed.gbitPerSecond)} Gbit/s, about ${countText(needed.openFetches)} open connections`,
  ];
}

export function addBenchCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('bench')
    .summary('measure this machine for orcrawl plan')
    .description('Crawls a synthetic web on loopback and saves what a page costs on this machine.')
    .option('--quick', 'measure for half a minute (the default)')
    .option('--output <FILE>', 'file for the figures (default: in the cache folder, where plan finds them)')
    .addHelpText('after', '\nExample:\n  $ orcrawl bench --quick && orcrawl plan --pages 1e9 --hours 30\n')
    .action(async (flags: { output?: string }) => onExit(await bench(flags.output ?? figuresFile())));
}

async function bench(file: string): Promise<number> {
  const figures = await measureMachine((step) => complain(step));
  await saveFigures(file, figures);
  say(
    `A page:   ${figures.pageCpuMs} CPU-ms plus ${figures.cpuMsPerKb} per KB of HTML, over HTTPS on a new connection`,
  );
  say(`Text:     ${figures.gzipMsPerTextKb} CPU-ms to compress a KB`);
  say(`Memory:   ${figures.fetcherRssMb} MB resident`);
  say(`Disk:     ${figures.diskMbPerSecond} MB/s written and synced`);
  say(`Kept in ${shown(file)}`);
  return EXIT.done;
}
