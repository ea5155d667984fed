// What happens to processes and stores: they end, die, come back, forget; and links on their way between pods.
// The model follows by the rules that hold then.
import type { HolderId, QueueEntry } from '../../frontier/frontier.js';
import { differs, mustEqual, withoutFates } from './difference.js';
import type { Mark, ModelScene, Noted, Pod } from './scene.js';
import { keyOf } from './state.js';
import { mixed, type Step } from './steps.js';
import type { ModelOpening } from './store.js';

/** What came back from disk is kept there for longer than a server can forget. */
const LONGEST_TAIL_MS = 25_000;
/** Less than what a process keeps of what it added and noted, in real time. */
const SURELY_KEPT_MS = 8_000;
/** A restarted server leases nothing for this long: until all that may know of forgotten calls are back. */
const RETURN_MS = 2_000;
const ON_THEIR_WAY_MS = 500;

export type Faults = ReturnType<typeof createFaults>;

export function createFaults(scene: ModelScene) {
  const { setting, clock, pods, slots, ids, homes, beginLife, now, isAway } = scene;

  async function reopen(pod: Pod, { b, c }: Step): Promise<void> {
    const { store, model } = pod;
    const index = b % store.openings.length;
    const how = c % 2 === 0 ? 'close' : 'kill';
    const isAlone = store.openings.length === 1;
    const awayMs = isAlone && c % 3 === 0 ? [200, 2_000, 20_000][mixed(c, 5, 3)]! : 0;
    const ending = store.openings[index]!;
    const isEnding = (holder: HolderId): boolean => homes[pod.index]!.get(holder) === ending;
    if (how === 'close') model.end(isEnding, how, now(pod));
    await store.reopen(index, how, awayMs);
    pod.behindMs = await store.behindMs();
    if (how === 'kill') model.end(isEnding, how, now(pod));
    for (const slot of slots) if (slot.pod === pod && slot.opening === index) beginLife(slot);
  }

  async function restart(): Promise<void> {
    if (!pods[0]!.store.restart) return;
    await pods[0]!.store.restart();
    for (const pod of pods) await beginAgain(pod);
  }

  async function beginAgain(pod: Pod): Promise<void> {
    pod.behindMs = await pod.store.behindMs();
    // Calls that were on their way when the first came back may have moved time a little.
    const { quiet = 0, now: storeMs = 0 } = (await pod.store.numbers?.()) ?? {};
    const leftMs = quiet - storeMs;
    if (leftMs < RETURN_MS - ON_THEIR_WAY_MS) differs(`a server that began again rests for ${leftMs} ms`);
    pod.model.rest(now(pod) + leftMs);
  }

  async function mark(): Promise<void> {
    // Repeated adds are unknown where a filter takes new ones for known, or where what a budget refused is known, too.
    if (pods.length > 1 || !pods[0]!.store.mark || setting.seen === 'small bloom') return;
    if (setting.budget > 0 && setting.seen !== 'requests') return;
    const [pod] = pods as [Pod];
    await pod.store.mark!();
    pod.mark = { snapshot: pod.model.snapshot(), added: [], atMs: clock.monotonicMs(), realMs: performance.now() };
  }

  /** The store forgot its last calls: what it had added is there again, everything else as it was at the mark. Processes
   * that had leased are over and open it anew; what they held at the mark goes back without suspicion. */
  async function loseTail({ b }: Step): Promise<void> {
    const [pod] = pods as [Pod];
    if (!pod.store.loseTail || !pod.mark || clock.monotonicMs() - pod.mark.atMs > LONGEST_TAIL_MS) return;
    const { mark } = pod;
    const andAll = b % 3 === 0;
    const before = [...pod.store.openings];
    const over = await pod.store.loseTail(andAll);
    pod.model.goBack(mark.snapshot);
    pod.isLoose = true;
    pod.mark = undefined;
    await beginAgain(pod);
    const isOver = (id: HolderId): boolean => over.includes(before.indexOf(homes[pod.index]!.get(id)!));
    pod.model.end(isOver, 'over', now(pod));
    await takeAdds(pod, mark, andAll ? [] : before);
    const isLiving = (_: unknown, i: number): boolean => !andAll && over.includes(i);
    await takeNotes(pod, mark, { over: before.filter(isLiving), all: andAll ? [] : before });
    await takeAllowance(pod);
    if (andAll) {
      // Nobody is left that could know of a lease given since the mark.
      ids[pod.index]!.clear();
    }
    for (const slot of slots) if (andAll || over.includes(slot.opening)) beginLife(slot);
    // Processes that ended after the mark are open again, and dead: the next opening detects that.
    pod.model.end((id) => !pod.store.openings.includes(homes[pod.index]!.get(id)!), 'kill', now(pod));
  }

  /** What living processes added since the mark is there again; of the others', what is there. */
  async function takeAdds(pod: Pod, { added, realMs }: Mark, living: readonly ModelOpening[]): Promise<void> {
    const found = await pod.store.openings[0]!.frontier.find(added.map(({ entry }) => entry.fingerprint));
    const isSure = pod.store.rules.budget === undefined && performance.now() - realMs < SURELY_KEPT_MS;
    const missing = added.find(({ by }, i) => !found[i] && living.includes(by));
    if (isSure && missing) differs(`${missing.entry.record} was forgotten, though who added it is back`);
    const there = added.filter((_, i) => found[i]).map(({ entry }) => entry);
    const isBack = there.filter(({ fingerprint }) => pod.model.requestOf(fingerprint) === undefined);
    const before = new Map([...pod.model.domains()].map(({ name, used }) => [name, used]));
    // They are there, whoever used the budget first.
    if (pod.store.budgetUsed) for (const { domain } of there) pod.model.domain(domain).used = -Infinity;
    pod.model.addAll(there, undefined, now(pod), true);
    if (pod.store.budgetUsed) await takeBudgets(pod, isBack, before);
  }

  /** A request that was added in front and in line is there again as one of them: who comes back first decides. */
  async function takeBudgets({ store, model }: Pod, entries: readonly QueueEntry[], before: Map<string, number>) {
    const budget = store.rules.budget!;
    for (const domain of model.domains()) {
      const own = entries.filter((entry) => entry.domain === domain.name);
      const keysOf = (list: readonly QueueEntry[]) => new Set(list.map(({ fingerprint }) => keyOf(fingerprint)));
      const inFront = keysOf(own.filter(({ forefront }) => forefront));
      const inLine = keysOf(own.filter(({ forefront }) => !forefront));
      const usedBefore = before.get(domain.name) ?? 0;
      const most = Math.min(budget, usedBefore + inLine.size);
      const least = Math.min(budget, usedBefore + [...inLine].filter((key) => !inFront.has(key)).length);
      const used = await store.budgetUsed!(domain.name);
      if (used < least || used > most) {
        differs(`${used} of the budget of ${domain.name} are used after a loss, not ${least} to ${most}`);
      }
      domain.used = used;
    }
  }

  /** Notes that the server forgot are made again as they were at first. */
  async function takeNotes(pod: Pod, mark: Mark, by: { over: readonly ModelOpening[]; all: readonly ModelOpening[] }) {
    const notes = withoutFates((await pod.store.openings[0]!.frontier.overview()).notes);
    const known = pod.model.notes();
    const textsOf = (openings: readonly ModelOpening[], name: string): string[] =>
      openings.flatMap((one) => pod.noted.get(one)?.get(name)?.text ?? []);
    for (const [name, text] of Object.entries(notes)) {
      if (name in known) continue;
      if (!textsOf(by.all, name).includes(text)) differs(`${name} is "${text}", which nobody noted first`);
      pod.model.setNote(name, text);
    }
    // A note that another process removed, and its maker made again, counts as old as its first text.
    const isSure = ({ realMs }: Noted): boolean => performance.now() - Math.min(realMs, mark.realMs) < SURELY_KEPT_MS;
    const kept = by.over.flatMap((one) => [...(pod.noted.get(one) ?? [])]).filter(([, first]) => isSure(first));
    const missing = kept.find(([name]) => !(name in notes) && !(name in known));
    if (missing) differs(`${missing[0]} was forgotten, though who noted it is back`);
  }

  /** It may have shrunk: the giver of pages learns how they were used. */
  async function takeAllowance(pod: Pod): Promise<void> {
    const { model, store } = pod;
    const allowance = (await store.numbers!()).allowance!;
    const pages = allowance === 0 ? Infinity : allowance - 1;
    if (pages > model.allowance || pages < Math.min(model.allowance, model.count('done'))) {
      differs(`${pages} pages are allowed after ${model.allowance}`);
    }
    model.allowance = pages;
  }

  async function takeIn(pod: Pod, isCut: boolean): Promise<void> {
    const { store, model } = pod;
    if (!store.takeIn) return;
    await store.takeIn(isCut);
    // Nothing to take in: nothing is called, and whoever fell silent is lost together with the others.
    if (pod.inbox.length > 0) model.counters(now(pod));
    for (const entries of pod.inbox) model.addAll(entries, undefined, now(pod));
    if (!isCut) pod.inbox = [];
    else {
      model.end(() => true, 'kill', now(pod));
      for (const slot of slots) if (slot.pod === pod) beginLife(slot);
    }
    mustEqual('links in the inbox', store.inboxLinks, pod.inbox.flat().length);
  }

  async function deliver(pod: Pod): Promise<void> {
    const { store } = pod;
    if (!store.deliver) return;
    await store.deliver(isAway);
    const going = pod.outbox.filter(({ target }) => !isAway(target));
    pod.outbox = pod.outbox.filter(({ target }) => isAway(target));
    for (const target of pods) {
      const entries = going.filter((one) => one.target === target.index).flatMap((one) => one.entries);
      if (entries.length > 0) target.model.arrive(entries, now(target), true);
    }
  }

  return { reopen, restart, mark, loseTail, takeIn, deliver };
}
