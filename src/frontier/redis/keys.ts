// Every key of the Redis frontier, in one place; the Lua files use the same names. All begin with the frontier's prefix.
// Promise: no key per URL, and each key says what deletes it.
import { parseAddress } from './server/address.js';

/**
 * | Key | Type | Content | Deleted by |
 * |---|---|---|---|
 * | `schema_version` | string | format of everything below | `drop` |
 * | `pod:info` | hash | whose store this is: pod, number of pods, crawl, versions, how seen requests are remembered | `drop` |
 * | `state` | hash | store id; run id of the server; judge of suspects; packed (state-numbers.ts): counters, next ids, pod clock, sequence number | `drop` |
 * | `openers` | hash | token of an opening → the process behind it | its `close`, or who finds it dead |
 * | `life` | hash | holder → order of its first lease, token of its opening | loss or `close` of the holder |
 * | `holders` | zset | holder by the pod time at which it is lost unless heard of | the same |
 * | `lost` | zset | lost holder by the pod time of its loss | a later loss, after a day |
 * | `l:HOLDER` | hash | lease id → place, landed, domain, request | settle, loss, `close` |
 * | `a:HOLDER` | hash | slot → number of a call and its answer | expires a day after the holder's last call |
 * | `d:BUCKET` | hash | domain → delay, next allowed time, turns, counts of what is not in its line | `drop` |
 * | `u:BUCKET` | hash | domain → requests accepted in all, where domains have a budget | `drop` |
 * | `due` | zset | tie and domain by the time it is due | the step that takes its last turn or request |
 * | `accused` | zset | the same of domains with a suspect in their queue (lua/part-suspects.lua) | the same |
 * | `q:DOMAIN` | list | the line: requests of priority 0 in order of age | Redis, when the last leaves |
 * | `p:DOMAIN` | zset | requests with another priority, in front, or returned, by place | Redis, when the last leaves |
 * | `waiting` | zset | requests between retries, by the time their wait ends | the lease call that finds it over |
 * | `s:BUCKET` | set | 64-bit fingerprints of everything accepted (exact) | `drop` |
 * | `b:SLICE` | string | bits of everything accepted (Bloom) | `drop` |
 * | `r` | hash | fingerprint → state and record (queues whose requests can be found) | `drop` |
 * | `overflow` | list | requests beyond their domain's head, until they are on disk | the keeper |
 * | `spill` | hash | domain → position on disk of the next request that comes back | the refill that brings the last |
 * | `gaps` | list | positions on disk that count for nothing, since the server began again | the refill that brings the last of all |
 * | `long` | set | domains with requests in `overflow` or on disk | the refill that brings the last |
 * | `refill` | set | domains whose head runs low | the keeper |
 * | `keeper` | hash | token and end of the role of the process that moves requests to disk and back | `drop` |
 * | `notes` | hash | small facts of the settle calls | a settle call that sets one to null |
 * | `outbox` | hash | notes `outbox/POD/LINKS/…`: links for a pod that is away | the settle call after their delivery |
 * | `fetch:queue` | list | captures that wait for a parser, with their leases | the pull that gives them to one |
 * | `pod:owner` | hash | token and identity of the pod's supervisor | its end, or expiry; not `drop` |
 * | `global:…` | string | of the pod that coordinates: pages crawled, stop signal, number of the leader (`coordinator`) | never: entries of another crawl or run are ignored |
 * | `global:lead` | hash | of the pod that coordinates: token and identity of the machine that leads | its end, or expiry |
 * | `global:watched` | hash | of the pod that coordinates a watch over several machines: pod → pages it knows | never: the next reading replaces it |
 * | `global:pods`, `global:stopped` | hash | of the pod that coordinates: pod → its crawl; pod → run in which it stopped, and why | never: entries of another crawl or run are ignored |
 */
export const KEYS = {
  schemaVersion: 'schema_version',
  info: 'pod:info',
  state: 'state',
  openers: 'openers',
  life: 'life',
  keeper: 'keeper',
} as const;

/** Our keys under a prefix; other keys are left alone. */
export const OWN_KEYS =
  /^(schema_version|pod:info|state|openers|life|holders|lost|due|accused|waiting|notes|overflow|outbox|fetch:queue|keeper|spill|gaps|refill|long|r|[ladqpsbu]:[^]+)$/;

/** Incremented when a key or a packed value changes its meaning. */
export const REDIS_SCHEMA_VERSION = '2';

/** The prefix of a library queue: one Redis may have several. In a cluster, braces keep its keys on one server. */
export function queuePrefix(id: string, url = ''): string {
  return parseAddress(url)?.kind === 'cluster' ? `{orcrawl:${id}}:` : `orcrawl:${id}:`;
}
