// `orcrawl simweb`: serves the synthetic web on loopback until Ctrl-C, to try out crawlers.
// Promise: same seed, same pages; not reachable from other machines.
import type { Command } from 'commander';
import { countOf } from '../../observe/figures.js';
import { millisecondRange, share, wholeNumber } from '../arguments.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { programName, say } from '../terminal.js';

interface SimwebFlags {
  readonly hosts: number;
  readonly pages: number;
  readonly port: number;
  readonly seed: number;
  readonly latency?: number | [number, number];
  readonly cross: number;
  readonly missing: number;
  readonly failing: number;
  readonly recovering: number;
  readonly redirects: number;
  readonly tls?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl simweb --hosts 3 --pages 200 --port 8080
  $ orcrawl simweb --latency 20-80 --failing 0.05
`;

export function addSimwebCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('simweb')
    .summary('serve a synthetic web on loopback')
    .description(
      'Serves a synthetic web on loopback until Ctrl-C: any number of hosts and pages, generated from a seed.',
    )
    .option('--hosts <N>', 'number of hosts', wholeNumber(1, 60_000), 3)
    .option('--pages <N>', 'pages per host', wholeNumber(1), 100)
    .option('--port <N>', 'port to listen on; 0 for a free one', wholeNumber(0, 65_535), 0)
    .option('--seed <N>', 'the same seed gives the same web', wholeNumber(0), 1)
    .option('--latency <MS>', 'response delay in milliseconds, or a range such as 5-40', millisecondRange)
    .option('--cross <SHARE>', 'share of extra links to other hosts', share, 0.1)
    .option('--missing <SHARE>', 'share of leaf pages that answer 404', share, 0)
    .option('--failing <SHARE>', 'share of leaf pages that answer 500', share, 0)
    .option('--recovering <SHARE>', 'share of pages that answer 503 at first', share, 0)
    .option('--redirects <SHARE>', 'share of links that redirect', share, 0)
    .option('--tls', 'serve HTTPS with a self-signed certificate')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: SimwebFlags) => onExit(await serve(flags)));
}

async function serve(flags: SimwebFlags): Promise<number> {
  const { Simweb, SIMWEB_PATHS } = await import('../../testing/index.js');
  const web = await Simweb.start({
    hosts: flags.hosts,
    pagesPerHost: flags.pages,
    port: flags.port,
    seed: flags.seed,
    latencyMs: flags.latency,
    crossHostLinks: flags.cross,
    statusMix: { missing: flags.missing, failing: flags.failing, recovering: flags.recovering },
    redirects: { share: flags.redirects },
    tls: flags.tls,
  }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new UsageError(`port ${flags.port} is in use: choose another --port, or 0 for a free one`);
  });
  const stopped = new Promise<void>((stop) => process.once('SIGINT', stop).once('SIGTERM', stop));
  const seeds = web.seeds();
  say('Every host also serves these test paths:');
  for (const { usage, does } of SIMWEB_PATHS) say(`  ${usage.padEnd(38)} ${does}`);
  // Last, so that a small terminal shows them.
  say(`\nServing ${countOf(flags.hosts, 'host')} of ${countOf(flags.pages, 'page')} until Ctrl-C.`);
  say(`Start from  ${seeds.slice(0, 3).join('\n            ')}`);
  if (seeds.length > 3) say(`            and ${seeds.length - 3} more`);
  say(`Crawl it    ${programName()} crawl ${seeds[0]} --strategy all --allow-private`);
  await stopped;
  const served = web.served();
  await web.close();
  say(`\nServed ${countOf(served, 'request')}.`);
  return EXIT.done;
}
