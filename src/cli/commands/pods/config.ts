// `orcrawl config check FILE`: prints what a run with this configuration would do, or all its mistakes. `config init`
// writes a commented file. Promise: checking starts and creates nothing; writing overwrites nothing unasked.
import { writeFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { availableParallelism, totalmem } from 'node:os';
import { bytesText, countOf, countText } from '../../../observe/figures.js';
import { bloomBytesPerPod } from '../../../frontier/redis/seen-memory.js';
import { type PodsConfig, PodsConfigError, readPodsConfig } from '../../../pods/config/config.js';
import { idleKeys } from '../../../pods/config/key-reference.js';
import { type Profile, starterFile } from '../../../pods/config/starter-file.js';
import { problemOfHandler } from '../../../pods/supervise/handler-check.js';
import { coresOfPod } from '../../../pods/topology.js';
import { wholeNumber } from '../../arguments.js';
import { EXIT, UsageError } from '../../exit-codes.js';
import { addPodsFlags, type ConfigFlags, reportConfigProblems } from '../../pods-flags.js';
import { complain, say, shown } from '../../terminal.js';

interface CheckFlags extends ConfigFlags {
  readonly connect?: boolean;
  readonly json?: boolean;
}

export function addConfigCommand(program: Command, onExit: (code: number) => void): void {
  const config = program
    .command('config')
    .summary('write or check a pods configuration')
    .description('Writes or checks the YAML file of a crawl on pods.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ orcrawl config init crawl.yaml\n  $ orcrawl config check crawl.yaml\n  $ orcrawl run --config crawl.yaml\n',
    );
  const checking = config
    .command('check')
    .summary('validate a configuration and print the plan')
    .description(
      'Checks a configuration, its folders and its stores, and prints the processes, cores, folders and memory.',
    )
    .argument('[FILE]', 'the YAML file')
    .option('--config <FILE>', 'the same, as run and status name it')
    .option('--no-connect', 'do not connect to the Redis servers')
    .option('--json', 'the resolved configuration as JSON, passwords removed');
  addPodsFlags(checking)
    .addHelpText('after', '\nExample:\n  $ orcrawl config check crawl.yaml\n\nExit codes: 0 usable, 1 not.\n')
    .action(async (file: string | undefined, flags: CheckFlags) =>
      onExit(await checkConfig(fileOf(file, flags), flags)),
    );
  config
    .command('init')
    .summary('write a commented configuration')
    .description('Writes a configuration with every key: what a crawl needs is set, the rest is commented out.')
    .argument('[FILE]', 'file to write; - for standard output', 'crawl.yaml')
    .option('--pods <N>', 'number of pods', wholeNumber(1, MAX_PODS), 2)
    .addOption(
      new Option('--profile <NAME>', 'test: embedded stores, small limits; production: Redis, all cores')
        .choices(['test', 'production'])
        .default('test'),
    )
    .option('--email <ADDRESS>', 'contact address, sent in the User-Agent')
    .option('--seed-file <FILE>', 'URLs or domains, one per line')
    .option('--base-port <PORT>', 'port of the first Redis; the others follow', wholeNumber(1, 65_535), 6_379)
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', '\nExample:\n  $ orcrawl config init crawl.yaml --pods 16 --profile production\n')
    .action(async (file: string, flags: InitFlags) => onExit(await initConfig(file, flags)));
}

const MAX_PODS = 1_024;

interface InitFlags {
  readonly pods: number;
  readonly profile: Profile;
  readonly basePort: number;
  readonly email?: string;
  readonly seedFile?: string;
  readonly force?: boolean;
}

async function initConfig(file: string, flags: InitFlags): Promise<number> {
  if (flags.basePort + flags.pods - 1 > 65_535) {
    throw new UsageError(`${flags.pods} ports from ${flags.basePort} exceed 65535: use a lower --base-port`);
  }
  const text = starterFile(flags);
  if (file === '-') {
    say(text.trimEnd());
    return EXIT.done;
  }
  await writeFile(file, text, { flag: flags.force ? 'w' : 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`${shown(file)} exists: use --force to overwrite it`);
    throw new UsageError(`cannot write ${shown(file)}: ${error.message}`);
  });
  const missing = [
    ...(flags.email === undefined ? ['email'] : []),
    ...(flags.seedFile === undefined ? ['seed_file'] : []),
  ];
  say(`Wrote ${shown(file)}${missing.length === 0 ? '' : `: fill in ${missing.join(' and ')}`}`);
  say(`Then: orcrawl config check ${shown(file)}`);
  return EXIT.done;
}

/** The file, as an argument or as --config. */
function fileOf(file: string | undefined, { config }: CheckFlags): string {
  const [one, other] = [file, config].filter((name) => name !== undefined);
  if (one === undefined) throw new UsageError('which file? orcrawl config check crawl.yaml');
  if (other !== undefined) throw new UsageError(`two files to check, ${shown(one)} and ${shown(other)}: give one`);
  return one;
}

async function checkConfig(file: string, flags: CheckFlags): Promise<number> {
  const warnings: string[] = [];
  let config: PodsConfig;
  try {
    config = await readPodsConfig(file, flags, {
      checkStores: flags.connect !== false,
      warn: (message) => warnings.push(message),
    });
  } catch (error) {
    return reportConfigProblems(error);
  }
  const handlerProblem = await problemOfHandler(config);
  if (handlerProblem !== undefined) return reportConfigProblems(new PodsConfigError([handlerProblem]));
  if (flags.json) say(JSON.stringify({ ...config, pods: config.pods.map(withoutSecret) }, null, 2));
  else for (const line of planLines(config)) say(line);
  for (const warning of [...warnings, ...idleKeys(config), ...machineWarnings(config)])
    complain(`warning: ${shown(warning, 500)}`);
  return EXIT.done;
}

function withoutSecret(pod: PodsConfig['pods'][number]): object {
  return pod.kind === 'redis' ? { kind: pod.kind, where: pod.where, prefix: pod.prefix } : pod;
}

/** The machine's resources. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

const thisMachine = (): Machine => ({ cores: availableParallelism(), memoryBytes: totalmem() });
const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

/** Memory limit of all processes on this machine. */
export function memoryOfProcesses(config: PodsConfig): number {
  const { ownPods, fetchersPerPod, parsersPerPod, fetcherMemoryLimit, parserMemoryLimit } = config;
  const perPod = fetchersPerPod * fetcherMemoryLimit + parsersPerPod * parserMemoryLimit;
  return ownPods.length * perPod + config.orchestratorMemoryLimit;
}

/** The plan, for people. */
export function planLines(config: PodsConfig, machine: Machine = thisMachine()): string[] {
  const { pods, ownPods, fetchersPerPod, parsersPerPod } = config;
  const processes = ownPods.length * (fetchersPerPod + parsersPerPod) + 1;
  const isAll = ownPods.length === pods.length;
  const lines = [
    `Pods:       ${countText(pods.length)} ${pods[0]!.kind === 'redis' ? 'in Redis' : 'embedded'}${isAll ? '' : `, of which this machine runs ${ownPods.join(', ')}`}`,
    `Processes:  ${countText(processes)}: 1 orchestrator and per pod ${countOf(fetchersPerPod, 'fetcher')} × ${countText(config.fetcherWorkers)} fetches` +
      (parsersPerPod === 0
        ? ', which parse what they fetch'
        : ` and ${countOf(parsersPerPod, 'parser')} × ${countText(config.parserWorkers)} pages`),
    `Cores:      ${coresLine(config, machine)}`,
    `Memory:     up to ${gigabytes(memoryOfProcesses(config))} in processes, of ${gigabytes(machine.memoryBytes)}, without stores`,
    `Politeness: ${config.politenessDelaySeconds} s between requests to a domain, as ${shown(config.userAgent)}`,
    `Dedup:      ${dedupText(config)}`,
    `Stops:      ${stopsLine(config)}`,
    `Seeds:      ${shown(config.seedFile ?? 'none (resuming)')}`,
    ...(config.handler === undefined ? [] : [`Handler:    ${shown(config.handler)}`]),
    ...config.dataDirs.map((path, index) => `${index === 0 ? 'Data:      ' : '           '} ${shown(path)}`),
    `State:      ${shown(config.stateDir)}`,
    `Logs:       ${shown(config.logDir)}/pod_N`,
    ...(parsersPerPod === 0 ? [] : [`Hand-off:   ${shown(config.handoffDir)}`]),
    `Metrics:    ${metricsText(config)}`,
    ...(config.isTest ? ['Test mode:  on (test_mode in the file): fewer pods and processes, other data_dirs'] : []),
    '',
  ];
  ownPods.forEach((pod, position) => lines.push(podLine(config, pod, position, machine)));
  return lines;
}

/** How URLs are remembered, and what that takes. */
export function dedupText({
  dedup,
  pods,
  bloomFilterCapacity: capacity,
  bloomFilterErrorRate: rate,
}: PodsConfig): string {
  if (dedup === 'exact' || pods[0]!.kind === 'embedded') return 'exact';
  const bytes = bloomBytesPerPod(capacity, rate, pods.length);
  const total = pods.length === 1 ? '' : ` (${bytesText(bytes * pods.length)} in all)`;
  return `Bloom, ${countText(capacity)} URLs at ${rate * 100} %: up to ${bytesText(bytes)} per Redis${total}, most of it early`;
}

export function metricsText({ enablePrometheus, prometheusHost, prometheusPort }: PodsConfig): string {
  if (!enablePrometheus) return 'off';
  return prometheusPort === 0
    ? `http://${prometheusHost}, on a free port that the log names`
    : `http://${prometheusHost}:${prometheusPort}/metrics`;
}

function podLine(config: PodsConfig, pod: number, position: number, machine: Machine): string {
  const store = config.pods[pod]!;
  const place = shown(store.kind === 'redis' ? `${store.where} ${store.prefix}`.trimEnd() : store.path);
  if (!isPinned(config, machine)) return `  pod ${pod}  ${place}`;
  const { fetchers, parsers } = coresOfPod(position, config.coresPerPod, config.parsersPerPod);
  const parts = [`fetchers on ${rangeOf(fetchers)}`, ...(parsers.length > 0 ? [`parsers on ${rangeOf(parsers)}`] : [])];
  return `  pod ${pod}  ${place}  ${parts.join(', ')}`;
}

const neededCores = ({ ownPods, coresPerPod }: PodsConfig): number => ownPods.length * coresPerPod;
const isPinned = (config: PodsConfig, machine: Machine): boolean =>
  config.enableCpuAffinity && process.platform === 'linux' && neededCores(config) <= machine.cores;

function coresLine(config: PodsConfig, machine: Machine): string {
  if (!config.enableCpuAffinity) return `not pinned, of ${machine.cores}`;
  if (!isPinned(config, machine)) return `not pinned: needs ${neededCores(config)}, has ${machine.cores}`;
  return `${neededCores(config)} pinned, of ${machine.cores}`;
}

const rangeOf = (cores: readonly number[]): string =>
  cores.length === 1 ? `core ${cores[0]}` : `cores ${cores[0]}-${cores.at(-1)}`;

function stopsLine({ maxPages, maxDuration }: PodsConfig): string {
  const limits = [
    ...(maxPages === undefined ? [] : [`after ${countOf(maxPages, 'page')}`]),
    ...(maxDuration === undefined ? [] : [`after ${countText(maxDuration)} s`]),
  ];
  return [...limits, 'when nothing is left to crawl'].join(', ');
}

/** Settings that cannot be applied, although the crawl can run. */
export function machineWarnings(config: PodsConfig, machine: Machine = thisMachine()): string[] {
  const warnings: string[] = [];
  const isAsked = config.givenKeys.some((key) => key === 'enable_cpu_affinity' || key === 'cores_per_pod');
  if (isAsked && config.enableCpuAffinity && !isPinned(config, machine)) {
    warnings.push(
      `processes will not be pinned to cores: that needs ${neededCores(config)} (cores_per_pod × pods), the machine has ${machine.cores}`,
    );
  }
  const memory = memoryOfProcesses(config);
  if (memory > machine.memoryBytes) {
    warnings.push(
      `memory limits add up to ${gigabytes(memory)}, but the machine has ${gigabytes(machine.memoryBytes)}`,
    );
  }
  return warnings;
}
