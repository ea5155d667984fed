// `orcrawl compose`: writes the Docker files for the stores and monitoring of a crawl on pods.
// Promise: reports what it wrote and warns of likely problems; a file that is not its own is never overwritten unasked.
import type { Command } from 'commander';
import { availableParallelism, totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { countText } from '../../../observe/figures.js';
import type { ComposeOptions } from '../../../pods/operate/compose.js';
import { megabytesPerPod, memoryOfWorkers, REWRITE_FACTOR, STORE_IMAGE } from '../../../pods/operate/topology.js';
import { positiveNumber, wholeNumber } from '../../arguments.js';
import { EXIT, UsageError } from '../../exit-codes.js';
import { complain, say, shown } from '../../terminal.js';
import { startsWith, writeMade } from './made-files.js';

interface ComposeFlags extends ComposeOptions {
  readonly output: string;
  readonly backup?: boolean;
  readonly force?: boolean;
  readonly configOut?: string;
  readonly machineMemoryGb?: number;
}

const MAX_PODS = 1_024;
const GIB = 1024 ** 3;
/** The configuration's default memory limits. */
const LIMITS = { fetcher: 2 * GIB, parser: 4 * GIB, orchestrator: 2 * GIB };

export function addComposeCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('compose')
    .summary('write a docker-compose.yml for the stores of a crawl on pods')
    .description('Writes docker-compose.yml with one Redis per pod, Prometheus and a Grafana dashboard.')
    .option('--pods <N>', 'stores', wholeNumber(1, MAX_PODS), defaultPods())
    .option('--base-port <PORT>', 'port of the first store; the others follow', wholeNumber(1, 65_535), 6_379)
    .option(
      '--total-memory-gb <GB>',
      'memory of all stores together (default: up to half of the machine’s, beside its workers)',
      positiveNumber,
    )
    .option('--output <FILE>', 'file to write', 'docker-compose.yml')
    .option('--backup', 'keep existing files under another name')
    .option('--force', 'overwrite files that orcrawl compose did not write')
    .option('--config-out <FILE>', 'also write a configuration for orcrawl run')
    .option('--image <NAME>', 'image of the stores, such as valkey/valkey:8-alpine', STORE_IMAGE)
    .option('--bind <ADDRESS>', 'address the stores listen on', '127.0.0.1')
    .option('--fetchers-per-pod <N>', 'for the configuration and the warnings', wholeNumber(1), 6)
    .option('--parsers-per-pod <N>', 'for the configuration and the warnings', wholeNumber(0), 0)
    .option('--prometheus-port <PORT>', 'port of the orcrawl metrics', wholeNumber(1, 65_535), 8_001)
    .option('--machine-memory-gb <GB>', 'memory of the target machine (default: this one)', positiveNumber)
    .addHelpText('after', '\nExample:\n  $ orcrawl compose --pods 4 --total-memory-gb 64 --config-out crawl.yaml\n')
    .action(async (flags: ComposeFlags) => onExit(await compose(withMemory(flags))));
}

/** A store per twelve cores, as the default of cores_per_pod. */
function defaultPods(): number {
  return Math.min(16, Math.max(1, Math.floor(availableParallelism() / 12)));
}

function withMemory(flags: ComposeFlags): ComposeFlags {
  const machineGb = flags.machineMemoryGb ?? totalmem() / GIB;
  const beside = (machineGb - memoryOfWorkers(flags, LIMITS) / GIB) / REWRITE_FACTOR;
  const usual = Math.max(1, Math.floor(Math.min(machineGb / 2, beside)));
  return { ...flags, totalMemoryGb: (flags.totalMemoryGb as number | undefined) ?? usual };
}

async function compose(flags: ComposeFlags): Promise<number> {
  // Loaded here: it needs the YAML library.
  const { composeFiles, composeWarnings, crawlYaml } = await import('../../../pods/operate/compose.js');
  const lastPort = flags.basePort + flags.pods - 1;
  if (lastPort > 65_535)
    throw new UsageError(`${flags.pods} ports from ${flags.basePort} exceed 65535: use a lower --base-port`);
  if (megabytesPerPod(flags) < 1)
    throw new UsageError(`${flags.totalMemoryGb} GB is too little for ${flags.pods} stores`);
  const output = resolve(flags.output);
  const files = new Map(
    [...composeFiles(flags, basename(output))].map(([name, text]) => [join(dirname(output), name), text]),
  );
  if (flags.configOut !== undefined) {
    const configOut = resolve(flags.configOut);
    if (files.has(configOut)) throw new UsageError('--config-out and --output name the same file');
    files.set(configOut, crawlYaml(flags));
  }
  const isOurs = await startsWith(output, MARK);
  const mine = flags.configOut && resolve(flags.configOut);
  await writeMade(files, flags, (file) => isOurs && file !== mine);
  const perPod = megabytesPerPod(flags);
  say();
  say(
    `  Stores:      ${countText(flags.pods)} × ${flags.image}, ports ${flags.basePort}${flags.pods === 1 ? '' : `-${lastPort}`} at ${flags.bind}`,
  );
  say(`  Memory:      ${countText(flags.totalMemoryGb)} GB in all, ${countText(perPod)} MB per store, noeviction`);
  say('  Durability:  every call is on disk before it is answered (appendfsync always), hourly snapshots');
  say('  Monitoring:  Prometheus http://127.0.0.1:9090, Grafana http://127.0.0.1:3000');
  say();
  say(`Start them with: docker compose -f ${shown(flags.output)} up -d`);
  const machineBytes = flags.machineMemoryGb === undefined ? totalmem() : flags.machineMemoryGb * GIB;
  for (const warning of composeWarnings(flags, machineBytes, LIMITS)) complain(`warning: ${warning}`);
  return EXIT.done;
}

/** A compose file of ours comes with its own neighbours; the configuration is the user's as soon as it exists. */
const MARK = '# Made by orcrawl compose';
