// What a container of a crawl may ask of its node: processor and memory by the model of `orcrawl plan`, disk by pages.
// Promise: pure arithmetic over the configuration and the constants of plan.ts.
import type { PodsConfig } from '../../config/types.js';
import { type MachineConstants, planCrawl, type PlanRequest, SHARED_CONSTANTS } from '../plan.js';
import { REWRITE_FACTOR } from '../topology.js';

export interface ContainerResources {
  /** Thousandths of a core. */
  readonly cpuMillis: number;
  readonly memoryMb: number;
  /** Beyond it the container is killed. */
  readonly memoryLimitMb: number;
}

/** The orchestrator beside the workers: it reads numbers once a second. */
const ORCHESTRATOR_MILLIS = 200;
const ORCHESTRATOR_MB = 150;
const MB = 1024 ** 2;

/** `podsHere`: how many pods of the crawl one container runs. */
export function crawlResources(config: PodsConfig, podsHere: number, machine: MachineConstants): ContainerResources {
  const { fetchersPerPod, parsersPerPod, engine, browsersPerPod } = config;
  const fetchers = fetchersPerPod * podsHere;
  const parsers = parsersPerPod * podsHere;
  const browsers = engine === 'http' ? 0 : (browsersPerPod ?? fetchersPerPod) * podsHere;
  const workers = fetchers + parsers;
  const limits =
    fetchers * config.fetcherMemoryLimit +
    parsers * config.parserMemoryLimit +
    browsers * config.browserMemoryLimit +
    config.orchestratorMemoryLimit;
  return {
    cpuMillis: Math.ceil((workers + browsers) * SHARED_CONSTANTS.workerShare * 1_000) + ORCHESTRATOR_MILLIS,
    memoryMb: Math.ceil(workers * machine.fetcherRssMb + (browsers * config.browserMemoryLimit) / MB) + ORCHESTRATOR_MB,
    memoryLimitMb: Math.ceil(limits / MB),
  };
}

export interface CrawlSize {
  readonly pages: number;
  readonly hours: number;
}

export interface DiskAndStores {
  /** Of each volume of each container. */
  readonly volumeGb: number;
  readonly storeMb: number;
  /** The configuration has less than the plan asks for. */
  readonly warnings: readonly string[];
}

/** Room for files beside pages, and for segments that are being written. */
const SPARE = 1.2;
const LEAST_GB = 1;
const LEAST_STORE_MB = 256;

export function diskAndStores(
  config: PodsConfig,
  { pages, hours }: CrawlSize,
  replicas: number,
  machine: MachineConstants,
): DiskAndStores {
  const request: PlanRequest = {
    ...{ pages, hours, pageKb: 250, newUrlsPerPage: 10 },
    ...{ delaySeconds: config.politenessDelaySeconds, dedup: config.dedup, storeRawHtml: config.storeRawHtml },
  };
  const plan = planCrawl(request, machine);
  const warnings: string[] = [];
  const workers = config.pods.length * config.fetchersPerPod;
  if (workers < plan.fetcherCores) {
    warnings.push(
      `${pages} pages in ${hours} h need ${plan.fetcherCores} fetchers, the configuration has ${workers}: raise ` +
        'fetchers_per_pod or the number of pods, or give it more --hours',
    );
  }
  // Segments in an object store leave the disk when they are sealed.
  const onDisk = config.content === undefined ? plan.diskTb : plan.diskTb - plan.contentTb;
  const volumes = replicas * config.dataDirs.length;
  return {
    volumeGb: Math.max(LEAST_GB, Math.ceil((onDisk * 1_000 * SPARE) / volumes)),
    storeMb: Math.max(LEAST_STORE_MB, Math.ceil((plan.storeGb * 1_000) / config.pods.length)),
    warnings,
  };
}

/** A store and the copy that a rewrite makes. */
export function storeLimitMb(megabytes: number): number {
  return Math.ceil(megabytes * REWRITE_FACTOR) + LEAST_STORE_MB;
}
