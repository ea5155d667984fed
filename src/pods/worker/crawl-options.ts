// A pod's configuration as the options of the common crawl.
// Promise: every key of the YAML that a visit obeys is handed on here, and nowhere else.
import type { Configuration } from '../../configuration.js';
import type { Rendering } from '../../crawl/browser/rendering.js';
import { resolveOptions } from '../../crawl/options/options.js';
import type { LinkScorer } from '../../crawl/order/options.js';
import type { Engine } from '../../fetch/engine.js';
import type { PodsConfig } from '../config/types.js';

export function crawlOptionsOf(config: PodsConfig, scoreLink: LinkScorer | undefined) {
  const { order, query, scorers } = config;
  const isScored = scoreLink && (order === undefined || order === 'best-first');
  return resolveOptions('cheerio', {
    order,
    query,
    scorers: isScored ? { ...(scorers ?? (query === undefined ? {} : { keywords: 1 })), custom: scoreLink } : scorers,
    maxRequestRetries: config.httpMaxRetries,
    navigationTimeoutSecs: config.httpTimeoutSeconds,
    sameDomainDelaySecs: config.politenessDelaySeconds,
    respectRobotsTxtFile: { userAgent: config.userAgent },
    robotsCacheTtlSecs: config.robotsCacheTtlSeconds,
    maxDelaySecs: config.maxDelaySeconds,
    userAgent: config.userAgent,
    maxBodyBytes: config.maxContentLength,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    slowHostShare: config.slowHostShare,
    slowHostPatienceSecs: config.slowHostPatienceSeconds,
    allowPrivateAddresses: config.allowPrivateAddresses,
    // Redis counts per domain, over all workers; an embedded pod has one worker, which counts.
    maxRequestsPerDomain: config.pods.every(({ kind }) => kind === 'redis') ? undefined : config.maxUrlsPerDomain,
    additionalMimeTypes: ['text/plain', ...config.additionalMimeTypes],
    documents: config.documents !== false,
    acceptMarkdown: config.acceptMarkdown,
    duplicates: config.duplicates,
    useSessionPool: false,
  });
}

/** How a fetcher shows pages in browsers; undefined if it does not. */
export async function loadRendering(config: PodsConfig, storage: Configuration) {
  const { engine, fetchersPerPod, browsersPerPod = fetchersPerPod } = config;
  if (engine === 'http') return undefined;
  const { openRendering } = await import('../../crawl/browser/rendering.js');
  return (http: Engine): Rendering =>
    openRendering(http, {
      engine,
      browsers: Math.floor(browsersPerPod / fetchersPerPod),
      maxBrowserBytes: config.browserMemoryLimit,
      userAgent: config.userAgent,
      allowPrivateAddresses: config.allowPrivateAddresses,
      config: storage,
    });
}
