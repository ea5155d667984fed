// The port's calls, made on a backend and on the model: what one answers the other must allow.
import type { Frontier, QueueEntry, SettleCall } from '../../frontier/frontier.js';
import { differs, mustEqual } from './difference.js';
import { takeLeases } from './leasing.js';
import type { ModelScene, Noted, Pod, Slot } from './scene.js';
import type { ModelOpening } from './store.js';
import { mixed, type Step } from './steps.js';
import { pullable } from './suspects.js';

/** Fewer than the requests whose wait a backend ends in one call. */
const MOST_IN_WORK = 200;

export type Visits = ReturnType<typeof createVisits>;

export function createVisits(scene: ModelScene) {
  const { world, pods, urls, ids, openingOf, now, isAway, call, forgetLast } = scene;

  async function add(slot: Slot, entries: readonly QueueEntry[]): Promise<void> {
    const { pod } = slot;
    const answers = await call(slot, (caller) => openingOf(slot).frontier.add({ ...caller, entries }));
    mustEqual('number of answers', answers.length, entries.length);
    pod.model.add(slot.id, entries, answers, now(pod));
    pod.mark?.added.push(...entries.map((entry) => ({ entry, by: openingOf(slot) })));
  }

  async function lease(slot: Slot, asked: number, step?: Step): Promise<number> {
    const { pod } = slot;
    const { model } = pod;
    const inWork = model.count('leased') + model.count('retrying');
    const max = Math.min(asked, Math.max(0, MOST_IN_WORK - inWork));
    const ended = model.count('done') + model.count('failed');
    const { b, c } = step ?? { b: 0, c: 0 };
    const maxEnded = step && mixed(b, 3, 8) === 0 ? { maxEnded: ended + mixed(b, 4, 20) } : {};
    const isBulkSkipping = step && mixed(c, 3, 5) === 0 && inWork < 50;
    const bulkSkips = isBulkSkipping ? { bulkSkipDomains: pod.domains.filter((_, i) => mixed(c, i, 2) === 0) } : {};
    const wanted = { max, ...maxEnded, ...bulkSkips };
    const answer = await call(slot, (caller) => openingOf(slot).frontier.lease({ ...caller, ...wanted }));
    const { isLoose } = pod;
    takeLeases(model, answer, { holder: slot.id, call: wanted, nowMs: now(pod), ids: ids[pod.index]!, isLoose });
    return answer.leases.length;
  }

  async function settle(slot: Slot, settling: Omit<SettleCall, 'holder' | 'call'>): Promise<void> {
    const { pod } = slot;
    const opening = openingOf(slot);
    const answer = await call(slot, (caller) =>
      opening.settle
        ? opening.settle({ ...settling, ...caller }, isAway)
        : opening.frontier.settle({ ...settling, ...caller }),
    );
    // Made again, it would send its links again.
    if (opening.settle) forgetLast();
    const settlements = settling.settlements.map((one) => {
      const links = one.links?.filter(({ domain }) => world.podOf(domain) === pod.index);
      return links ? { ...one, links } : one;
    });
    const foreign = settling.settlements
      .flatMap(({ links = [] }) => links)
      .filter((one) => world.podOf(one.domain) !== pod.index);
    const isHeld = !pod.model.isLost(slot.id, now(pod));
    send(pod, foreign, isHeld);
    mustEqual('settle', answer, pod.model.settle(slot.id, { ...settling, settlements }, now(pod)));
    if (!isHeld) return;
    pod.mark?.added.push(...settlements.flatMap(({ links = [] }) => links).map((entry) => ({ entry, by: opening })));
    note(pod, opening, settling.notes ?? {});
  }

  function note(pod: Pod, by: ModelOpening, notes: Readonly<Record<string, string | null>>): void {
    const first = pod.noted.get(by) ?? new Map<string, Noted>();
    pod.noted.set(by, first);
    for (const [name, text] of Object.entries(notes)) {
      if (text === null) first.delete(name);
      else if (!first.has(name)) first.set(name, { text, realMs: performance.now() });
    }
  }

  /** Links for other pods are sent before the visit is settled; what cannot be sent waits in the outbox. */
  function send(from: Pod, entries: readonly QueueEntry[], isHeld: boolean): void {
    for (const target of pods) {
      const list = entries.filter(({ domain }) => world.podOf(domain) === target.index);
      if (list.length === 0) continue;
      if (isAway(target.index)) {
        if (isHeld) from.outbox.push({ target: target.index, entries: list });
      } else if (target.store.receives === 'inbox') target.inbox.push(list);
      else target.model.arrive(list, now(target));
    }
  }

  async function pull(slot: Slot, max: number): Promise<void> {
    const { pod } = slot;
    const opening = openingOf(slot);
    if (!opening.pull) return;
    const { held, leases } = await call(slot, (caller) => opening.pull!({ ...caller, max }));
    mustEqual('held', held, true);
    pod.model.call(slot.id, now(pod));
    mustEqual('captures pulled', leases.length, pullable(pod.model, slot.id, max));
    for (const { id, record } of leases) {
      const request = pod.model.pull(slot.id, now(pod))!;
      mustEqual('capture pulled', { id, record }, { id: request.lease, record: request.record });
    }
  }

  /** Asks what became of URLs: of one domain, known and not. */
  async function find(pod: Pod, frontier: Frontier, { b, c }: Step): Promise<void> {
    const domain = pod.domains[b % pod.domains.length]!;
    const asked = urls.known(domain, c, 5);
    const found = await frontier.find(asked.map(({ fingerprint }) => fingerprint));
    pod.model.counters(now(pod));
    const expected = asked.map(({ fingerprint }) => pod.model.find(fingerprint));
    asked.forEach(({ record, fingerprint }, i) => {
      // A filter and a budget know more than was accepted; parsing requests look like queued ones.
      if (!expected[i] && (pod.store.rules.isFilter || pod.store.rules.budget !== undefined)) return;
      if (pod.model.requestOf(fingerprint)?.state === 'parsing') return;
      // Of several adds that were forgotten, any may have come first when they were repeated.
      const got = found[i] && pod.isLoose && expected[i] ? { ...found[i], priority: expected[i].priority } : found[i];
      mustEqual(`find ${record}`, got ?? null, expected[i] ?? null);
    });
  }

  async function allow(pod: Pod, opening: ModelOpening, pages: number): Promise<number> {
    const { model } = pod;
    const inWork = model.count('done') + model.count('leased') + model.count('parsing');
    const allowed = await opening.allow!(pages);
    if (allowed < pages || allowed > Math.max(pages, inWork)) differs(`allowed ${allowed} pages instead of ${pages}`);
    return allowed;
  }

  return { add, lease, settle, pull, find, allow };
}
