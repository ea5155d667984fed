// What a crawl needs: a model of cores, stores, memory, disk and network from a few measured constants.
// Promise: pure arithmetic, explained in docs/scale.md; assumptions are marked as such.

export interface PlanRequest {
  readonly pages: number;
  readonly hours: number;
  /** Size of a page's HTML, decompressed. */
  readonly pageKb: number;
  /** Delay between requests to a domain. */
  readonly delaySeconds: number;
  /** New URLs per page. */
  readonly newUrlsPerPage: number;
  /** Domains the crawl discovers; default twice those in rotation. */
  readonly domains?: number | undefined;
  readonly dedup: 'exact' | 'bloom';
  readonly storeRawHtml: boolean;
}

/** Measured costs on a machine. */
export interface MachineConstants {
  /** Fetcher CPU per page over HTTPS on a new connection, without the part that grows with its size. */
  readonly pageCpuMs: number;
  /** CPU per KB of HTML: receiving, inflating, scanning, storing. */
  readonly cpuMsPerKb: number;
  /** CPU to compress a KB of text for the segments. */
  readonly gzipMsPerTextKb: number;
  readonly fetcherRssMb: number;
  readonly diskMbPerSecond: number;
}

/** Properties of the stores and of pages, the same on every machine. */
export const SHARED_CONSTANTS = Object.freeze({
  // `npm run measure -- pods-speed` finds 0.10 on a quiet machine. On a busy one a page has cost 0.27 (docs/decisions/009).
  redisCpuMsPerPage: 0.15,
  seenBytes: 11,
  bloomBytes: 2,
  queuedBytes: 68,
  domainBytes: 500,
  domainHead: 1_000,
  /** A spilled request in LMDB: ANCHORS.md, 82 bytes with its URL. */
  spilledBytes: 82,
  // `npm run measure -- content` on ../shared/data/pages, mean 184 KB: text, compressed text, compressed page.
  textKbPerKb: 12.466 / 184,
  storedTextKbPerKb: 6.021 / 184,
  wireKbPerKb: 33.2 / 184,
  indexKb: 0.261,
  /** Handshake and headers of a new HTTPS connection: certificates are 3 to 5 KB. An assumption. */
  connectionKb: 6,
  /** How long a fetch is open on the real web. An assumption. */
  fetchSeconds: 1.5,
  /** Usable share of a core before queues grow. */
  workerShare: 0.8,
  /** Usable share of a store's core: bursts and rewrites need the rest. */
  storeShare: 0.5,
  /** Rewrites of the append-only file copy pages. */
  rewriteFactor: 1.3,
});

/**
 * Measured by `orcrawl bench --quick` with 0.2.0 on a quiet machine (two cores of an EPYC): medians of three runs, the
 * disk rounded down. A test compares them with what `npm run measure -- pods-speed` found.
 */
export const REFERENCE_MACHINE: MachineConstants = Object.freeze({
  pageCpuMs: 1.6,
  cpuMsPerKb: 0.0058,
  gzipMsPerTextKb: 0.0047,
  fetcherRssMb: 209,
  diskMbPerSecond: 1_300,
});

export interface Plan {
  readonly pagesPerSecond: number;
  readonly cpuMsPerPage: number;
  readonly fetcherCores: number;
  readonly storeCores: number;
  readonly cores: number;
  readonly pods: number;
  readonly fetchersPerPod: number;
  /** With fewer domains, politeness is the limit, not the machine. */
  readonly domainsInRotation: number;
  readonly pagesPerDomainAtMost: number;
  readonly seenUrls: number;
  readonly storeGb: number;
  readonly memoryGb: number;
  readonly contentTb: number;
  readonly diskTb: number;
  readonly diskMbPerSecond: number;
  readonly gbitPerSecond: number;
  readonly openFetches: number;
}

const GB = 1e9;

/**
 * @example
 * planCrawl({ pages: 1e9, hours: 30, pageKb: 250, delaySeconds: 70, newUrlsPerPage: 10, dedup: 'exact', storeRawHtml: false }, REFERENCE_MACHINE).cores;
 */
export function planCrawl(request: PlanRequest, machine: MachineConstants): Plan {
  const shared = SHARED_CONSTANTS;
  const { pages, hours, pageKb, delaySeconds, newUrlsPerPage } = request;
  const seconds = hours * 3600;
  const pagesPerSecond = pages / seconds;

  const textKb = pageKb * shared.textKbPerKb;
  const cpuMsPerPage = machine.pageCpuMs + machine.cpuMsPerKb * pageKb + machine.gzipMsPerTextKb * textKb;
  const fetcherCores = Math.max(1, Math.ceil((pagesPerSecond * cpuMsPerPage) / 1000 / shared.workerShare));
  const storeLoad = (pagesPerSecond * shared.redisCpuMsPerPage) / 1000;
  const pods = Math.max(1, Math.ceil(storeLoad / shared.storeShare));
  const storeCores = Math.max(1, Math.ceil(storeLoad / shared.storeShare));

  const domainsInRotation = Math.ceil(pagesPerSecond * (delaySeconds + shared.fetchSeconds));
  const domains = Math.max(1, request.domains ?? 2 * domainsInRotation);
  const seenUrls = pages * newUrlsPerPage;
  const queuedUrls = Math.max(0, seenUrls - pages);
  const queuedInStores = Math.min(queuedUrls, domains * shared.domainHead);
  const seenBytes = seenUrls * (request.dedup === 'exact' ? shared.seenBytes : shared.bloomBytes);
  const storeGb = (seenBytes + queuedInStores * shared.queuedBytes + domains * shared.domainBytes) / GB;
  const memoryGb = storeGb * shared.rewriteFactor + (fetcherCores * machine.fetcherRssMb) / 1000;

  const storedKb =
    pageKb * shared.storedTextKbPerKb + shared.indexKb + (request.storeRawHtml ? pageKb * shared.wireKbPerKb : 0);
  const contentTb = (pages * storedKb * 1e3) / 1e12;
  const spillTb = ((queuedUrls - queuedInStores) * shared.spilledBytes) / 1e12;
  // A store's file and the rewrite that replaces it.
  const storeFilesTb = (storeGb * 2) / 1000;

  return {
    pagesPerSecond,
    cpuMsPerPage,
    fetcherCores,
    storeCores,
    cores: fetcherCores + storeCores,
    pods,
    fetchersPerPod: Math.ceil(fetcherCores / pods),
    domainsInRotation,
    pagesPerDomainAtMost: Math.floor(seconds / (delaySeconds + shared.fetchSeconds)),
    seenUrls,
    storeGb,
    memoryGb,
    contentTb,
    diskTb: contentTb + spillTb + storeFilesTb,
    diskMbPerSecond: (pagesPerSecond * storedKb) / 1000,
    gbitPerSecond: (pagesPerSecond * (pageKb * shared.wireKbPerKb + shared.connectionKb) * 8) / 1e6,
    openFetches: Math.ceil(pagesPerSecond * shared.fetchSeconds),
  };
}

/** A machine's resources; unknown ones are not compared. */
export interface MachineCapacity {
  readonly cores: number;
  readonly memoryGb: number;
  readonly diskTb?: number | undefined;
  readonly gbitPerSecond?: number | undefined;
}

export interface Limit {
  readonly what: 'cores' | 'memory' | 'disk space' | 'disk speed' | 'network';
  /** Needed ÷ available: above 1 it does not fit. */
  readonly ratio: number;
}

/** The machine's limits, the tightest first. */
export function limitsOf(plan: Plan, capacity: MachineCapacity, machine: MachineConstants): Limit[] {
  const { cores, memoryGb, diskTb, gbitPerSecond } = capacity;
  const limits: Limit[] = [
    { what: 'cores', ratio: plan.cores / cores },
    { what: 'memory', ratio: plan.memoryGb / memoryGb },
    { what: 'disk speed', ratio: plan.diskMbPerSecond / machine.diskMbPerSecond },
    ...(diskTb === undefined ? [] : [{ what: 'disk space', ratio: plan.diskTb / diskTb } as const]),
    ...(gbitPerSecond === undefined ? [] : [{ what: 'network', ratio: plan.gbitPerSecond / gbitPerSecond } as const]),
  ];
  return limits.sort((a, b) => b.ratio - a.ratio);
}
