// `orcrawl config check FILE`: prints what a run with this configuration would do, or all its mistakes.
// Promise: starts nothing and creates nothing.
import type { Command } from 'commander';
import { availableParallelism, totalmem } from 'node:os';
import { countOf, countText } from '../../observe/figures.js';
import { type PodsConfig, readPodsConfig } from '../../pods/config/config.js';
import { coresOfPod } from '../../pods/topology.js';
import { EXIT } from '../exit-codes.js';
import { addPodsFlags, type ConfigFlags, reportConfigProblems } from '../pods-flags.js';
import { complain, say, shown } from '../terminal.js';

interface CheckFlags extends ConfigFlags {
  readonly connect?: boolean;
  readonly json?: boolean;
}

export function addConfigCommand(program: Command, onExit: (code: number) => void): void {
  const config = program.command('config').summary('check a pods configuration');
  const checking = config
    .command('check')
    .summary('validate a configuration and print the plan')
    .description(
      'Checks a configuration, its folders and its stores, and prints the processes, cores, folders and memory.',
    )
    .argument('<FILE>', 'the YAML file')
    .option('--no-connect', 'do not connect to the Redis servers')
    .option('--json', 'the resolved configuration as JSON, passwords removed');
  addPodsFlags(checking)
    .addHelpText('after', '\nExample:\n  $ orcrawl config check crawl.yaml\n\nExit codes: 0 usable, 1 not.\n')
    .action(async (file: string, flags: CheckFlags) => onExit(await checkConfig(file, flags)));
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
  if (flags.json) say(JSON.stringify({ ...config, pods: config.pods.map(withoutSecret) }, null, 2));
  else for (const line of planLines(config)) say(line);
  for (const warning of [...warnings, ...machineWarnings(config)]) complain(`warning: ${shown(warning, 500)}`);
  return EXIT.done;
}

function withoutSecret(pod: PodsConfig['pods'][number]): object {
  return pod.kind === 'redis' ? { kind: pod.kind, where: pod.where } : pod;
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
    `Dedup:      ${config.dedup === 'exact' ? 'exact' : `Bloom, ${countText(config.bloomFilterCapacity)} URLs at ${config.bloomFilterErrorRate * 100} %`}`,
    `Stops:      ${stopsLine(config)}`,
    `Seeds:      ${shown(config.seedFile ?? 'none (resuming)')}`,
    ...(config.handler === undefined ? [] : [`Handler:    ${shown(config.handler)}`]),
    ...config.dataDirs.map((path, index) => `${index === 0 ? 'Data:      ' : '           '} ${shown(path)}`),
    `State:      ${shown(config.stateDir)}`,
    `Logs:       ${shown(config.logDir)}/pod_N`,
    ...(parsersPerPod === 0 ? [] : [`Hand-off:   ${shown(config.handoffDir)}`]),
    `Metrics:    ${config.enablePrometheus ? `http://${config.prometheusHost}:${config.prometheusPort}/metrics` : 'off'}`,
    '',
  ];
  ownPods.forEach((pod, position) => lines.push(podLine(config, pod, position, machine)));
  return lines;
}

function podLine(config: PodsConfig, pod: number, position: number, machine: Machine): string {
  const store = config.pods[pod]!;
  const place = shown(store.kind === 'redis' ? store.where : store.path);
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
  if (config.enableCpuAffinity && !isPinned(config, machine)) {
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
