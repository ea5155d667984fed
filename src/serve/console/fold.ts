// What the rows of a job add up to: answers by status, errors by code, domains. Worked out while somebody watches.
// Promise: each row counts once, in order; hosts, codes and types are bounded, the rest counts as `other`. The numbers
// come from the same rows as the list, so they agree with it after any restart and on every server.
import { mediaTypeOf } from '../../base/media-type.js';
import { type LimitName, LIMITS, limitReached } from '../../limits.js';
import { parseUrl } from '../../request/url.js';
import { type PageRow, parseRow } from '../jobs/rows.js';
import type { JobStore } from '../jobs/store.js';
import { createLatencies } from './latency.js';
import type { DomainView, ErrorCount, FiguresView } from './wire.js';

export interface Fold {
  /** Reads the rows that came since, at most so many per call. */
  follow(): Promise<void>;
  view(): FiguresView;
  domains(sort: DomainSort, search: string): readonly DomainView[];
}

export type DomainSort = 'pages' | 'failed' | 'pace' | 'ms' | 'bytes' | 'host';

const CHUNK = 2_000;
const MAX_PER_CALL = 40_000;
const MAX_EXAMPLES = 3;
const OTHER = 'other';

interface Domain {
  pages: number;
  failed: number;
  bytes: number;
  ms: number;
  timed: number;
  firstAtMs: number;
  lastAtMs: number;
}

export function createFold(store: Pick<JobStore, 'rows'>, id: string): Fold {
  const statuses = new Map<string, number>();
  const types = new Map<string, number>();
  const errors = new Map<string, { count: number; examples: { url: string; error: string }[] }>();
  const hosts = new Map<string, Domain>();
  const latencies = createLatencies();
  let rows = 0;
  let robots = 0;
  let bytes = 0;
  let following: Promise<void> | undefined;

  function add(row: PageRow): void {
    rows++;
    bytes += row.bytes ?? 0;
    if (row.ms !== undefined) latencies.add(row.ms);
    if (row.kind === 'robots') robots++;
    else addTo(hostOf(row.url), row);
    if (row.status !== undefined) count(statuses, String(row.status));
    if (row.type !== undefined) count(types, mediaTypeOf(row.type));
    if (row.kind === 'failed') addError(row);
  }

  function addTo(host: string, { kind, bytes: size = 0, ms, atMs }: PageRow): void {
    const name = within(hosts, host, LIMITS.figureHosts.max, 'figureHosts');
    let domain = hosts.get(name);
    if (!domain) {
      domain = { pages: 0, failed: 0, bytes: 0, ms: 0, timed: 0, firstAtMs: atMs, lastAtMs: atMs };
      hosts.set(name, domain);
    }
    domain[kind === 'page' ? 'pages' : 'failed']++;
    domain.bytes += size;
    domain.lastAtMs = atMs;
    if (ms !== undefined) {
      domain.ms += ms;
      domain.timed++;
    }
  }

  function addError({ code = OTHER, url, error = '' }: PageRow): void {
    const name = within(errors, code, LIMITS.figureNames.max, 'figureNames');
    const known = errors.get(name) ?? { count: 0, examples: [] };
    known.count++;
    if (known.examples.length < MAX_EXAMPLES) known.examples.push({ url, error });
    errors.set(name, known);
  }

  async function read(): Promise<void> {
    for (let left = MAX_PER_CALL; left > 0; left -= CHUNK) {
      const some = await store.rows.read(id, rows, CHUNK);
      for (const text of some) add(parseRow(text));
      if (some.length < CHUNK) return;
      // Others want their turn, too.
      await new Promise((resume) => setImmediate(resume));
    }
  }

  function views(): DomainView[] {
    return [...hosts].map(([host, { pages, failed, bytes: size, ms, timed, firstAtMs, lastAtMs }]) => ({
      host,
      pages,
      failed,
      bytes: size,
      ms: timed === 0 ? 0 : Math.round(ms / timed),
      pace: lastAtMs > firstAtMs ? ((pages + failed - 1) * 1000) / (lastAtMs - firstAtMs) : 0,
      lastAtMs,
    }));
  }

  let sorted: { sort: DomainSort; rows: number; list: DomainView[] } | undefined;

  return {
    follow: () => (following ??= read().finally(() => (following = undefined))),
    view() {
      const codes: ErrorCount[] = [...errors].map(([code, { count: times, examples }]) => ({
        code,
        count: times,
        examples,
      }));
      return {
        rows,
        statuses: Object.fromEntries(statuses),
        types: Object.fromEntries([...types].sort(([, a], [, b]) => b - a).slice(0, 12)),
        errors: codes.sort((a, b) => b.count - a.count),
        robots,
        bytes,
        domains: hosts.size,
        p50: latencies.percentile(0.5),
        p95: latencies.percentile(0.95),
      };
    },
    domains(sort, search) {
      if (sorted?.sort !== sort || sorted.rows !== rows) sorted = { sort, rows, list: views().sort(orderOf(sort)) };
      return search === '' ? sorted.list : sorted.list.filter(({ host }) => host.includes(search));
    },
  };
}

function orderOf(sort: DomainSort): (one: DomainView, other: DomainView) => number {
  const byHost = (one: DomainView, other: DomainView): number => (one.host < other.host ? -1 : 1);
  if (sort === 'host') return byHost;
  return (one, other) => other[sort] - one[sort] || byHost(one, other);
}

function count(counts: Map<string, number>, name: string): void {
  const key = within(counts, name, LIMITS.figureNames.max, 'figureNames');
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The name, or `other` when there are too many. */
function within(known: ReadonlyMap<string, unknown>, name: string, max: number, limit: LimitName): string {
  if (known.has(name) || known.size < max) return name;
  limitReached(limit);
  return OTHER;
}

const hostOf = (url: string): string => parseUrl(url)?.host ?? OTHER;
