// What a crawl on pods needs beside itself, described once: `orcrawl compose` and `orcrawl k8s` both write it down.
// Promise of a store: every call is on disk before it is answered, and nothing is evicted.

/** A server for the state of one pod. */
export interface StoreServer {
  readonly image: string;
  /** The program in the image. */
  readonly program: string;
  readonly flags: readonly StoreFlag[];
  /** Asks it whether it answers. */
  readonly client: string;
  readonly port: number;
  /** Where the image keeps its data. */
  readonly dataPath: string;
  readonly megabytes: number;
  readonly openFiles: number;
  /** It writes its data before it ends. */
  readonly graceSecs: number;
}

export interface StoreFlag {
  readonly name: string;
  readonly value: string;
  /** The reason, for who reads the file. */
  readonly why?: string;
}

export const STORE_IMAGE = 'redis:7-alpine';

export function storeServer(image: string, megabytes: number): StoreServer {
  const flavour = image.includes('valkey') ? 'valkey' : 'redis';
  return {
    image,
    program: `${flavour}-server`,
    client: `${flavour}-cli`,
    port: 6_379,
    dataPath: '/data',
    megabytes,
    openFiles: 65_536,
    graceSecs: 300,
    flags: [
      { name: '--maxmemory', value: `${megabytes}mb` },
      { name: '--maxmemory-policy', value: 'noeviction' },
      {
        name: '--save',
        value: '3600 1',
        why: 'A snapshot an hour is the second way back; every call is in the append-only file before it is answered.',
      },
      { name: '--appendonly', value: 'yes' },
      { name: '--appendfsync', value: 'always' },
      {
        name: '--auto-aof-rewrite-percentage',
        value: '100',
        why: 'Rewrites copy pages that change meanwhile: rarely, and not while the file is small.',
      },
      { name: '--auto-aof-rewrite-min-size', value: '1gb' },
      { name: '--loglevel', value: 'notice' },
    ],
  };
}

/** While a server rewrites its file, changed pages exist twice. */
export const REWRITE_FACTOR = 1.3;

/** Memory limits of processes, in bytes. */
export interface WorkerLimits {
  readonly fetcher: number;
  readonly parser: number;
  readonly orchestrator: number;
}

/** The limits of all processes together, in bytes. */
export function memoryOfWorkers(
  { pods, fetchersPerPod, parsersPerPod }: { pods: number; fetchersPerPod: number; parsersPerPod: number },
  { fetcher, parser, orchestrator }: WorkerLimits,
): number {
  return pods * (fetchersPerPod * fetcher + parsersPerPod * parser) + orchestrator;
}

/** Memory of each store, of what all may have together. */
export function megabytesPerPod({ totalMemoryGb, pods }: { totalMemoryGb: number; pods: number }): number {
  return Math.floor((totalMemoryGb * 1024) / pods);
}
