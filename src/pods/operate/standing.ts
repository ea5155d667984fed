// Where a URL stands in a crawl on pods that has no record of its end: the rules, then the store of its pod.
// Promise: read-only; a store that is away or in use is named, not waited for.
import { access } from 'node:fs/promises';
import { newHolderId } from '../../frontier/client.js';
import { openLmdbFrontier } from '../../frontier/embedded/store/lmdb.js';
import type { Found } from '../../frontier/frontier.js';
import { Log, LogLevel } from '../../observe/log.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { normalizeUrl } from '../../request/url.js';
import { watchExcludeFile } from '../config/exclude-list.js';
import { createExtensionTest } from '../config/skipped-extensions.js';
import type { PodsConfig } from '../config/types.js';
import { frontierFolder } from '../stores/embedded-store.js';
import { openPodFrontier, pacingOf } from '../stores/pod-frontier.js';
import { privateKindOf } from '../supervise/seeding.js';
import { podOfUrl } from '../topology.js';

const MAX_URL_CHARACTERS = 2_000;

/** Sentences for people. */
export async function standingOf(config: PodsConfig, url: string): Promise<string[]> {
  const pod = podOfUrl(url, config.pods.length);
  const rule = await ruleAgainst(config, url);
  if (rule !== undefined) return [`It is never queued: ${rule}.`];
  const store = config.pods[pod]!;
  const where = `pod ${pod} (${store.kind === 'redis' ? store.where : store.path})`;
  let found: Found | undefined;
  try {
    found = await findIn(config, pod, url);
  } catch (error) {
    return [`The store of ${where} could not be read: ${(error as Error).message}`];
  }
  if (!found) {
    const budget = config.maxUrlsPerDomain === undefined ? '' : ', or max_urls_per_domain left it out';
    return [`It was never accepted by ${where}: no page that was crawled links to it${budget}.`];
  }
  if (found.state === 'known') {
    return [
      `${where} accepted it, and it has no recorded end: it waits, or is being fetched${config.recordFates ? '' : ', or it ended (record_fates is false)'}.`,
    ];
  }
  return [`${where}: ${found.state}${found.reason === undefined ? '' : `, ${found.reason}`}.`];
}

/** Why no link to the URL is ever queued. */
async function ruleAgainst(config: PodsConfig, url: string): Promise<string | undefined> {
  if (url.length > MAX_URL_CHARACTERS) return `it is longer than ${MAX_URL_CHARACTERS} characters`;
  if (createExtensionTest(config.skipExtensions)(url)) return 'its extension is in skip_extensions';
  if (!config.allowPrivateAddresses && privateKindOf(url) !== undefined) {
    return 'its address is private, and allow_private_addresses is false';
  }
  const excluded = await watchExcludeFile(config.excludeFile, new Log({ level: LogLevel.OFF }));
  try {
    if (excluded.refusal(url) !== undefined) return `its domain is in ${config.excludeFile}`;
  } finally {
    excluded.close();
  }
  return undefined;
}

async function findIn(config: PodsConfig, pod: number, url: string): Promise<Found | undefined> {
  const fingerprints = [fingerprintOf(normalizeUrl(url))];
  if (config.pods[pod]!.kind === 'redis') {
    const frontier = await openPodFrontier(config, pod, { as: 'guest', warn: () => undefined });
    try {
      return (await frontier.find(fingerprints))[0];
    } finally {
      await frontier.close();
    }
  }
  const folder = frontierFolder(config, pod);
  await access(folder);
  const frontier = await openLmdbFrontier(folder, { holder: newHolderId(), pacing: pacingOf(config) });
  try {
    return (await frontier.find(fingerprints))[0];
  } finally {
    await frontier.close();
  }
}
