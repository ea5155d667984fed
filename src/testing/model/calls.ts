// The calls that a step stands for: which URLs are added, which leases settled and how. Everything comes from the
// step's numbers and from what the model knows, so that the same step means the same call on every backend.
import type { Landing, QueueEntry, SettleCall, Settlement } from '../../frontier/frontier.js';
import type { Priority } from '../../request/request.js';
import { entry } from '../conformance/bench.js';
import type { ModelRequest } from './state.js';
import { mixed, type Setting, type Step } from './steps.js';

export interface UrlSource {
  /** Entries of the given domains: new ones, known ones, in front, of other priorities. */
  some(step: Step, domains: readonly string[], count: number): QueueEntry[];
  /** New plain ones of one domain. */
  wave(domain: string, count: number): QueueEntry[];
  /** Some of a domain that were made, and one that was not. */
  known(domain: string, number: number, count: number): QueueEntry[];
}

interface Form {
  readonly priority: Priority;
  readonly forefront: boolean;
}

const PLAIN: Form = { priority: 0, forefront: false };

export function createUrlSource({ maxUrls, pods }: Setting): UrlSource {
  const used = new Map<string, number>();
  const forms = new Map<string, Form>();
  let total = 0;

  /** Links to other pods arrive in any order: there, a URL has one form, or which one counts would not be known. */
  function formed(domain: string, number: number, form: Form = PLAIN): QueueEntry {
    const url = `${domain}/${number}`;
    if (pods > 1 && !forms.has(url)) forms.set(url, form);
    return entry(url, domain, forms.get(url) ?? form);
  }

  function fresh(domain: string): number {
    const next = used.get(domain) ?? 0;
    if (total >= maxUrls && next > 0) return next - 1;
    used.set(domain, next + 1);
    total++;
    return next;
  }

  return {
    some({ b, c }, domains, count) {
      return Array.from({ length: count }, (_, i) => {
        // The first domains get most.
        const domain = domains[Math.min(mixed(b, i, domains.length), mixed(c, i, domains.length))]!;
        const known = used.get(domain) ?? 0;
        const number = known > 0 && mixed(b, i + 100, 4) === 0 ? mixed(c, i + 100, known) : fresh(domain);
        const rank = mixed(b, i + 200, 12);
        const priority = (rank < 4 ? rank - (rank < 2 ? 2 : 1) : 0) as Priority;
        const forefront = mixed(c, i + 200, 10) === 0;
        return formed(domain, number, { priority, forefront });
      });
    },
    known(domain, number, count) {
      const made = (used.get(domain) ?? 0) + 1;
      return Array.from({ length: count }, (_, i) => formed(domain, mixed(number, i, made)));
    },
    wave: (domain, count) => Array.from({ length: count }, () => formed(domain, fresh(domain))),
  };
}

const RETRY_MS = [0, 0, 1, 400, 5_000] as const;

/** Lands and settles some of what a holder has, with links or with requests that go back, not both: which of them is
 * first in a queue is not promised. */
export function settlingOf(
  step: Step,
  held: readonly ModelRequest[],
  options: { readonly linksFor: (i: number) => QueueEntry[]; readonly parses: boolean },
): Omit<SettleCall, 'holder' | 'call'> {
  const { b, c } = step;
  const count = mixed(b, 0, 4) === 0 ? held.length : Math.min(held.length, 1 + mixed(b, 1, 4));
  const first = held.length === 0 ? 0 : mixed(c, 0, held.length);
  const chosen = Array.from({ length: count }, (_, i) => held[(first + i) % held.length]!);
  const withLinks = mixed(c, 1, 3) === 0;
  const landings = chosen.filter((_, i) => mixed(b, i + 10, 4) > 0).map((one, i) => landingOf(one, c, i));
  const settlements = chosen.map((one, i): Settlement => {
    const lease = one.lease;
    const record = mixed(b, i + 20, 8) === 0 ? { record: `${one.entry.record}+${mixed(c, i, 9)}` } : {};
    const links = withLinks && !one.bulkSkip ? { links: options.linksFor(i) } : {};
    const kind = mixed(c, i + 30, withLinks ? 12 : 20);
    if (kind < 9)
      return { kind: one.bulkSkip && kind > 0 ? 'skipped' : 'done', lease, reason: 'r', ...links, ...record };
    if (kind < 11) return { kind: 'failed', lease, reason: 'f', ...links, ...record };
    if (kind < 12) return { kind: 'skipped', lease, reason: 's', ...links, ...record };
    if (kind < 15) {
      const afterMs = RETRY_MS[mixed(b, i + 40, RETRY_MS.length)]!;
      return { kind: 'retry', lease, afterMs, ...record, ...(mixed(b, i + 50, 3) === 0 ? { back: true } : {}) };
    }
    if (kind < 17 || !options.parses) return { kind: 'untouched', lease, ...record };
    return { kind: 'handed', lease, capture: `capture-${lease}`, bytes: 10 + mixed(b, i, 90) };
  });
  // A lease without a holder, or one settled twice.
  if (mixed(c, 2, 8) === 0)
    settlements.push({ kind: 'done', lease: withLinks ? 900_000_000 : (chosen[0]?.lease ?? 7) });
  const notes = mixed(b, 3, 6) === 0 ? { [`note ${mixed(b, 4, 4)}`]: mixed(c, 4, 3) === 0 ? null : `text ${c}` } : {};
  return { landings, settlements, notes };
}

export function landingOf({ lease }: ModelRequest, number: number, i: number): Landing {
  const delay = mixed(number, i + 60, 8);
  return {
    lease,
    ...(delay < 3 ? { delayMs: [0, 100, 400][delay]! } : {}),
    ...(mixed(number, i + 70, 10) === 0 ? { pauseMs: 700 } : {}),
  };
}
