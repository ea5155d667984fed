// The resolved and validated configuration of a crawl on pods: the rest of pods/ trusts it.
// Field names are the YAML keys in camelCase; paths are absolute, sizes are bytes, times have their unit in the name.
import type { CrawlOrder, Scorers } from '../../crawl/order/options.js';
import type { FileKey } from './keys.js';

/** A pod's store. */
export type PodStore =
  | {
      readonly kind: 'redis';
      /** With password and database, for the client. Never log it. */
      readonly redisUrl: string;
      /** The address without its password, for people. */
      readonly where: string;
      /** Begins all keys of the pod; '' if it has a database of its own. */
      readonly prefix: string;
    }
  | { readonly kind: 'embedded'; readonly path: string };

/** A crawl that goes on: pages are visited again and again within a budget. */
export interface PodsWatch {
  /** Of all pods together. */
  readonly requestsPerHour: number;
  /** `handler`: as the export `importance` of the handler module says. */
  readonly importance: 'none' | 'depth' | 'inlinks' | 'handler';
  readonly diff: boolean;
  readonly webhook: string | undefined;
  /** Whether sitemaps, feeds and headers are read for what changed; or further lists to read. */
  readonly hints: boolean | readonly string[];
}

export type PodsLogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

/** Settings used as they are. Seconds may be fractions. */
export interface PodsSettings {
  readonly logLevel: PodsLogLevel;
  readonly fetchersPerPod: number;
  readonly parsersPerPod: number;
  /** `auto`: pages that are empty without scripts are loaded in a browser; `browser`: all are. */
  readonly engine: 'http' | 'auto' | 'browser';
  /** Spread over the fetchers; undefined: one each. */
  readonly browsersPerPod: number | undefined;
  /** Concurrent fetches per fetcher process. */
  readonly fetcherWorkers: number;
  readonly parserWorkers: number;
  readonly enableCpuAffinity: boolean;
  readonly coresPerPod: number;
  readonly redisSocketTimeout: number;
  readonly redisSocketConnectTimeout: number;
  readonly redisSocketKeepalive: boolean;
  readonly redisMaxConnections: number;
  readonly politenessDelaySeconds: number;
  readonly robotsCacheTtlSeconds: number;
  readonly httpTimeoutSeconds: number;
  readonly httpMaxRetries: number;
  readonly userAgentTemplate: string;
  readonly maxContentLength: number;
  /** Besides HTML, XML and plain text. */
  readonly additionalMimeTypes: readonly string[];
  readonly extractText: boolean | 'main';
  /** Read documents too; `follow`: and follow their links. */
  readonly documents: boolean | 'follow';
  /** Ask for markdown where a site offers it. */
  readonly acceptMarkdown: boolean;
  readonly storeRawHtml: boolean;
  /** An index line for each URL that failed or was skipped. */
  readonly recordFates: boolean;
  /** Remember pages from one crawl to the next, and ask servers only what changed. */
  readonly remember: boolean;
  /** What becomes of pages that nearly repeat another one of their pod. */
  readonly duplicates: 'keep' | 'mark' | 'skip';
  readonly watch: PodsWatch | undefined;
  readonly dedup: 'exact' | 'bloom';
  /** Over all pods. */
  readonly bloomFilterCapacity: number;
  readonly bloomFilterErrorRate: number;
  readonly frontierBatchSize: number;
  readonly maxUrlsPerDomain: number | undefined;
  readonly domainHead: number;
  readonly overflowLimit: number;
  readonly leaseSeconds: number;
  readonly parseQueueMaxBytes: number;
  readonly contentLayout: 'segments' | 'files';
  /** Where finished segments of pages go; undefined: they stay in the data directories. */
  readonly content: string | undefined;
  /** Where finished segments of items go; undefined: they stay in the data directories. */
  readonly datasets: string | undefined;
  readonly durability: 'process' | 'machine' | 'replicated';
  readonly allowPrivateAddresses: boolean;
  readonly maxConnectionsPerAddress: number;
  /** Share of a fetcher's slots. */
  readonly slowHostShare: number;
  readonly slowHostPatienceSeconds: number;
  readonly maxDelaySeconds: number;
  readonly parseQueueSoftLimit: number;
  readonly parseQueueHardLimit: number;
  readonly globalCoordinationRedisPod: number;
  readonly globalMetricsUpdateInterval: number;
  readonly prometheusHost: string;
  readonly prometheusPort: number;
  readonly enablePrometheus: boolean;
  readonly maxPages: number | undefined;
  /** Seconds. */
  readonly maxDuration: number | undefined;
  readonly resume: boolean;
  readonly seededUrlsOnly: boolean;
  /** In which order the pages of each domain are visited; as the options of a crawler. */
  readonly order: CrawlOrder | undefined;
  readonly query: string | undefined;
  readonly scorers: Scorers | undefined;
  /** URLs whose path ends in one of these are not queued. Lower case, without the dot. */
  readonly skipExtensions: readonly string[];
}

/** A complete configuration, frozen. */
export interface PodsConfig extends PodsSettings {
  /** The file it came from. */
  readonly configFile: string | undefined;
  /** Every pod of the crawl, by index; all of the same kind. */
  readonly pods: readonly PodStore[];
  /** The indexes that this machine runs: all, or those of `--pods`. Ascending. */
  readonly ownPods: readonly number[];
  readonly dataDirs: readonly string[];
  readonly logDir: string;
  /** Spill and local state. */
  readonly stateDir: string;
  /** Captured pages on their way to parsers. */
  readonly handoffDir: string;
  readonly seedFile: string | undefined;
  readonly excludeFile: string | undefined;
  readonly handler: string | undefined;
  readonly email: string;
  /** `userAgentTemplate` with the e-mail filled in. */
  readonly userAgent: string;
  /** Bytes. */
  readonly fetcherMemoryLimit: number;
  readonly browserMemoryLimit: number;
  readonly parserMemoryLimit: number;
  readonly orchestratorMemoryLimit: number;
  /** `--fresh`: the stores may be emptied. */
  readonly fresh: boolean;
  /** The keys that the file, test mode or flags set. */
  readonly givenKeys: readonly FileKey[];
  /** `test_mode` is on. */
  readonly isTest: boolean;
  /** This run's crawl, once known: stores of any other are refused. */
  readonly crawl?: string;
}

/** Command-line flags, as commander names them; they override the file. */
export interface PodsFlags {
  readonly seedFile?: string;
  readonly email?: string;
  readonly dataDir?: readonly string[];
  readonly logDir?: string;
  readonly excludeFile?: string;
  readonly fetcherWorkers?: number;
  readonly parserWorkers?: number;
  readonly maxPages?: number;
  readonly maxDuration?: number;
  readonly logLevel?: string;
  readonly resume?: boolean;
  readonly seededUrlsOnly?: boolean;
  readonly overrideNumPods?: number;
  readonly overrideFetchersPerPod?: number;
  readonly overrideParsersPerPod?: number;
  /** `0-3,5` */
  readonly pods?: string;
  /** So many pods per machine; the number at the end of this machine's name says which. */
  readonly podsFromHostname?: number;
  readonly fresh?: boolean;
  readonly allowPrivate?: boolean;
  readonly redisHost?: string;
  readonly redisPort?: number;
  readonly redisDb?: number;
  readonly redisPassword?: string;
  readonly numFetcherProcesses?: number;
  readonly numParserProcesses?: number;
}
