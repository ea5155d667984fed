// `orcrawl compose`: writes the Docker files for the stores and monitoring of a crawl on pods.
// Promise: reports what it wrote and warns of likely problems; with --backup existing files are kept.
import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { countText } from '../../observe/figures.js';
import type { ComposeOptions } from '../../pods/operate/compose.js';
import { positiveNumber, wholeNumber } from '../arguments.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { complain, say, shown } from '../terminal.js';

interface ComposeFlags extends ComposeOptions {
  readonly output: string;
  readonly backup?: boolean;
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
    .option('--pods <N>', 'stores', wholeNumber(1, MAX_PODS), 16)
    .option('--base-port <PORT>', 'port of the first store; the others follow', wholeNumber(1, 65_535), 6_379)
    .option('--total-memory-gb <GB>', 'memory of all stores together', positiveNumber, 1_440)
    .option('--output <FILE>', 'file to write', 'docker-compose.yml')
    .option('--backup', 'keep existing files under another name')
    .option('--config-out <FILE>', 'also write a configuration for orcrawl run')
    .option('--image <NAME>', 'image of the stores, such as valkey/valkey:8-alpine', 'redis:7-alpine')
    .option('--bind <ADDRESS>', 'address the stores listen on', '127.0.0.1')
    .option('--fetchers-per-pod <N>', 'for the configuration and the warnings', wholeNumber(1), 6)
    .option('--parsers-per-pod <N>', 'for the configuration and the warnings', wholeNumber(0), 0)
    .option('--prometheus-port <PORT>', 'port of the orcrawl metrics', wholeNumber(1, 65_535), 8_001)
    .option('--machine-memory-gb <GB>', 'memory of the target machine (default: this one)', positiveNumber)
    .addHelpText('after', '\nExample:\n  $ orcrawl compose --pods 4 --total-memory-gb 64 --config-out crawl.yaml\n')
    .action(async (flags: ComposeFlags) => onExit(await compose(flags)));
}

async function compose(flags: ComposeFlags): Promise<number> {
  // Loaded here: it needs the YAML library.
  const { composeFiles, composeWarnings, crawlYaml, megabytesPerPod } = await import('../../pods/operate/compose.js');
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
  for (const [file, text] of files) {
    if (flags.backup) await keepOld(file);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const perPod = megabytesPerPod(flags);
  say(`Wrote ${[...files.keys()].map((file) => shown(file)).join('\n      ')}`);
  say();
  say(
    `  Stores:      ${countText(flags.pods)} × ${flags.image}, ports ${flags.basePort}${flags.pods === 1 ? '' : `-${lastPort}`} at ${flags.bind}`,
  );
  say(`  Memory:      ${countText(flags.totalMemoryGb)} GB in all, ${countText(perPod)} MB a store, noeviction`);
  say('  Durability:  every call is on disk before its answer (appendfsync always), hourly snapshots');
  say('  Monitoring:  Prometheus http://127.0.0.1:9090, Grafana http://127.0.0.1:3000');
  say();
  say(`Start them with: docker compose -f ${shown(flags.output)} up -d`);
  const machineBytes = flags.machineMemoryGb === undefined ? totalmem() : flags.machineMemoryGb * GIB;
  for (const warning of composeWarnings(flags, machineBytes, LIMITS)) complain(`warning: ${warning}`);
  return EXIT.done;
}

/** Renames a file to the first free name with .bak. */
async function keepOld(file: string): Promise<void> {
  const exists = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );
  if (!(await exists(file))) return;
  let kept = `${file}.bak`;
  for (let n = 1; await exists(kept); n++) kept = `${file}.bak${n}`;
  await rename(file, kept);
  say(`Kept the old ${shown(basename(file))} as ${shown(basename(kept))}`);
}
