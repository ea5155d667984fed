// Which pod owns a domain: pure arithmetic, the same in every process and machine.
// Promise: a domain belongs to exactly one pod, which makes politeness exact.
import { parseAddress } from '../frontier/redis/server/address.js';
import { hash } from 'node:crypto';
import { CrawlError } from '../errors.js';
import { domainOf } from '../request/url.js';
import type { PodStore } from './config/types.js';

/**
 * The pod of a registrable domain (or canonical IP address), of `pods` in all: the first 8 hex digits of its MD5 as a
 * number, modulo pods.
 *
 * @example
 * podOfDomain('example.com', 16); // 1
 */
export function podOfDomain(domain: string, pods: number): number {
  return pods === 1 ? 0 : Number.parseInt(hash('md5', domain, 'hex').slice(0, 8), 16) % pods;
}

/** The pod that owns the domain of an http(s) URL. */
export function podOfUrl(url: string, pods: number): number {
  return podOfDomain(domainOf(url), pods);
}

/** `CRAWLER_DEBUG_POD_ASSIGNMENT`: whether every URL is checked against its pod before it is added. */
export function wantsAssignmentChecks(setting = process.env.CRAWLER_DEBUG_POD_ASSIGNMENT): boolean {
  return /^(?:true|1|yes|on)$/i.test(setting?.trim() ?? '');
}

/**
 * The pods of a list such as `0-3,5`, ascending and without repeats.
 *
 * @example
 * parsePodRange('0-3,5', 16); // [0, 1, 2, 3, 5]
 */
export function parsePodRange(text: string, pods: number): number[] {
  const chosen = new Set<number>();
  for (const part of text.split(',')) {
    const [, low, high] = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(part) ?? [];
    if (low === undefined)
      throw wrongRange(`invalid list of pods "${text.slice(0, 80)}": expected a list such as 0-3,5`);
    const [first, last] = [Number(low), Number(high ?? low)];
    if (first > last) throw wrongRange(`invalid range ${first}-${last}: ${first} is above ${last}`);
    if (last >= pods)
      throw wrongRange(`pod ${last} does not exist: the ${pods === 1 ? 'only one is 0' : `last is ${pods - 1}`}`);
    for (let pod = first; pod <= last; pod++) chosen.add(pod);
  }
  return [...chosen].sort((a, b) => a - b);
}

/**
 * The pods of a machine whose name ends in its number, as in a StatefulSet: `perMachine` in a row.
 *
 * @example
 * podsOfHostname('crawl-2', 4, 16); // [8, 9, 10, 11]
 */
export function podsOfHostname(name: string, perMachine: number, pods: number): number[] {
  const ordinal = /-(\d{1,6})(?:\.|$)/.exec(name)?.[1];
  if (ordinal === undefined) throw wrongRange(`the name of this machine, "${name.slice(0, 80)}", does not end in -N`);
  const first = Number(ordinal) * perMachine;
  if (first >= pods) {
    throw wrongRange(`machine ${ordinal} has no pods: there are ${pods}, ${perMachine} per machine`);
  }
  return Array.from({ length: Math.min(perMachine, pods - first) }, (_, i) => first + i);
}

function wrongRange(message: string): CrawlError {
  return new CrawlError('OPTION_INVALID', message);
}

/** Cores for the processes of a pod. */
export interface PodCores {
  readonly fetchers: readonly number[];
  readonly parsers: readonly number[];
}

/**
 * The cores of the `position`th pod on this machine: `coresPerPod` in a row, the first two thirds for fetchers and the
 * rest for parsers; all for fetchers if there are no parsers.
 */
export function coresOfPod(position: number, coresPerPod: number, parsersPerPod: number): PodCores {
  const all = Array.from({ length: coresPerPod }, (_, index) => position * coresPerPod + index);
  // A single core is shared.
  if (coresPerPod === 1) return { fetchers: all, parsers: parsersPerPod === 0 ? [] : all };
  const share = parsersPerPod === 0 ? all.length : Math.min(coresPerPod - 1, Math.ceil((coresPerPod * 2) / 3));
  return { fetchers: all.slice(0, share), parsers: all.slice(share) };
}

/** Of the stores on a network. */
export function portsOf({ pods }: { readonly pods: readonly PodStore[] }): Set<number> {
  const nodes = pods.flatMap((pod) => (pod.kind === 'redis' ? (parseAddress(pod.redisUrl)?.nodes ?? []) : []));
  return new Set(nodes.map(({ port }) => port));
}
