// `orcrawl k8s`: from a configuration to the files of a crawl on Kubernetes.
// Promise: what is written was read back as a configuration; every value that must be secret is in the Secret only.
import { randomBytes } from 'node:crypto';
import { parse } from 'yaml';
import { readPodsConfig } from '../../config/config.js';
import { type MachineConstants, REFERENCE_MACHINE } from '../plan.js';
import { storeServer } from '../topology.js';
import { clusterConfig } from './cluster-config.js';
import { manifestFiles } from './manifests.js';
import { CONFIG_DIR, CONFIG_FILE } from './paths.js';
import { crawlResources, diskAndStores } from './resources.js';
import { storeAddresses } from './store-manifests.js';

export interface K8sOptions {
  readonly configFile: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly image: string;
  /** Pods of the crawl in one container. */
  readonly podsPerReplica: number;
  /** Start so many stores too, one per pod, and use them in place of those of the file. */
  readonly stores?: number | undefined;
  readonly storeImage: string;
  readonly storeMemoryMb?: number | undefined;
  /** To size volumes and stores: default the file's max_pages. */
  readonly pages?: number | undefined;
  readonly hours: number;
  readonly volumeGb?: number | undefined;
  readonly storageClass?: string | undefined;
  readonly existingSecret?: string | undefined;
  readonly filesInImage?: string | undefined;
  readonly serviceMonitor?: boolean | undefined;
  readonly serviceAccount?: string | undefined;
  readonly privatePort?: readonly number[] | undefined;
  /** The text of an earlier `secret.yaml`: its password of the stores stays. */
  readonly earlierSecret?: string | undefined;
  readonly machine?: MachineConstants | undefined;
}

export interface K8sFiles {
  /** Name → text. */
  readonly files: ReadonlyMap<string, string>;
  readonly replicas: number;
  readonly pods: number;
  readonly cpuMillis: number;
  readonly memoryMb: number;
  readonly volumeGb: number;
  readonly warnings: readonly string[];
}

const DEFAULT_VOLUME_GB = 100;
const DEFAULT_STORE_MB = 2_048;

export async function k8sFiles(options: K8sOptions): Promise<K8sFiles> {
  const { name, machine = REFERENCE_MACHINE } = options;
  const probeServer = storeServer(options.storeImage, 1);
  const cluster = await clusterConfig({
    configFile: options.configFile,
    filesInImage: options.filesInImage,
    stores:
      options.stores === undefined
        ? undefined
        : {
            addresses: storeAddresses(name, options.stores, probeServer.port),
            password: passwordIn(options.earlierSecret) ?? randomBytes(24).toString('hex'),
          },
  });
  // The text that containers will read, judged as they will.
  const config = await readPodsConfig(`${CONFIG_DIR}/${CONFIG_FILE}`, {}, { text: cluster.yaml, isToRun: false });
  const isEmbedded = config.pods.some(({ kind }) => kind === 'embedded');
  // Embedded stores are on one disk.
  const podsPerReplica = isEmbedded ? config.pods.length : Math.min(options.podsPerReplica, config.pods.length);
  const replicas = Math.ceil(config.pods.length / podsPerReplica);
  const pages = options.pages ?? config.maxPages;
  const sized =
    pages === undefined ? undefined : diskAndStores(config, { pages, hours: options.hours }, replicas, machine);
  const warnings = [...cluster.warnings, ...(sized?.warnings ?? [])];
  const volumeGb = options.volumeGb ?? sized?.volumeGb ?? DEFAULT_VOLUME_GB;
  if (options.volumeGb === undefined && sized === undefined) {
    warnings.push(`volumes of ${DEFAULT_VOLUME_GB} GB are a guess: give --pages, or --volume-gb`);
  }
  const storeMb = options.storeMemoryMb ?? sized?.storeMb ?? DEFAULT_STORE_MB;
  const resources = crawlResources(config, podsPerReplica, machine);
  const files = manifestFiles({
    ...{ name, config, cluster, podsPerReplica, resources, volumeGb },
    ...{ image: options.image, namespace: options.namespace, existingSecret: options.existingSecret },
    ...{ storageClass: options.storageClass, hasServiceMonitor: options.serviceMonitor === true },
    ...{ serviceAccount: options.serviceAccount, privatePorts: options.privatePort ?? [] },
    stores:
      options.stores === undefined
        ? undefined
        : // Its file, and the rewrite that replaces it.
          { server: storeServer(options.storeImage, storeMb), volumeGb: Math.max(1, Math.ceil((storeMb * 3) / 1_000)) },
  });
  const { cpuMillis, memoryMb } = resources;
  return { files, replicas, pods: config.pods.length, cpuMillis, memoryMb, volumeGb, warnings };
}

function passwordIn(text: string | undefined): string | undefined {
  try {
    const { data } = parse(text ?? '{}') as { data?: Record<string, string> };
    const value = data?.['redis-password'];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') || undefined : undefined;
  } catch {
    return undefined;
  }
}
