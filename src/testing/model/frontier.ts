// The frontier as plain lists: what every backend is compared with. Each rule of the port is a line or two here.
// It does not choose: it checks a backend's answers, and throws where the port does not allow one.
import {
  type Counters,
  type Found,
  type HolderId,
  type Landing,
  type Presence,
  type QueueEntry,
  type SettleAnswer,
  type SettleCall,
  type Settlement,
} from '../../frontier/frontier.js';
import { differs } from './difference.js';
import {
  byPlace,
  freshState,
  isEnded,
  keyOf,
  type ModelDomain,
  type ModelRequest,
  type ModelRules,
  type ModelState,
  priorityOf,
  type State,
} from './state.js';
import { trialAfter } from './suspects.js';

export type Model = ReturnType<typeof createModel>;

export function createModel(rules: ModelRules) {
  let s = freshState();

  /** A delay means one turn. */
  const turnsOf = ({ delayMs }: ModelDomain): number => (delayMs > 0 ? 1 : rules.pacing.turns);

  /** When the domain's next request is due; undefined if none is queued or no turn is free. */
  function dueMs(domain: ModelDomain): number | undefined {
    const isReady = domain.queue.length > 0 && domain.out < turnsOf(domain);
    return isReady ? Math.max(domain.allowedMs, domain.readyMs) : undefined;
  }

  function domainOf(name: string): ModelDomain {
    let domain = s.domains.get(name);
    if (!domain) {
      domain = { name, delayMs: rules.pacing.delayMs, allowedMs: 0, readyMs: 0, out: 0, queue: [], used: 0 };
      s.domains.set(name, domain);
    }
    return domain;
  }

  const domainBy = ({ entry }: ModelRequest): ModelDomain => domainOf(entry.domain);

  function move(request: ModelRequest, state: ModelState): void {
    if (request.state === 'retrying') s.retrying.delete(request);
    if (request.state === 'leased') s.held.get(request.holder)?.delete(request);
    s.counts[request.state]--;
    s.counts[state]++;
    request.state = state;
    if (state === 'retrying') s.retrying.add(request);
  }

  /** `freshMs`: the domain's wait begins then if it had nothing queued. */
  function enqueue(request: ModelRequest, order: number, freshMs?: number, isInLine = false): void {
    const domain = domainBy(request);
    if (freshMs !== undefined && domain.queue.length === 0) domain.readyMs = freshMs;
    Object.assign(request, { order, isInLine });
    const { queue } = domain;
    let low = 0;
    for (let high = queue.length; low < high;) {
      const middle = (low + high) >> 1;
      if (byPlace(queue[middle]!, request) <= 0) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, request);
    move(request, 'queued');
  }

  const queueLast = (request: ModelRequest, order: number, nowMs: number): void =>
    enqueue(request, order, nowMs, priorityOf(request) === 0);

  const heldBy = (holder: HolderId): ModelRequest[] => [...(s.held.get(holder) ?? [])];

  /** A turn that was not spent goes back as if never taken. */
  function returnTurn(request: ModelRequest): void {
    if (!request.landed) domainBy(request).out--;
  }

  function giveBack(request: ModelRequest): void {
    returnTurn(request);
    enqueue(request, request.order);
  }

  function loseLease(request: ModelRequest, together: number, order: number, nowMs: number): void {
    if (request.bulkSkip) return giveBack(request);
    const domain = domainBy(request);
    if (!request.landed) {
      // Nobody knows whether the server was asked: the delay runs from now.
      if (domain.out >= turnsOf(domain)) domain.readyMs = nowMs;
      if (domain.delayMs > 0) domain.allowedMs = Math.max(domain.allowedMs, nowMs + domain.delayMs);
    }
    returnTurn(request);
    request.lost = Math.min(255, request.lost + 1);
    request.trial = trialAfter(request.trial, together);
    if (request.trial > 0) return enqueue(request, order, nowMs);
    request.reason = 'WORKER_LOST';
    move(request, 'failed');
  }

  /** A holder that comes back under its name is a new one: it does not stay the judge. */
  function leave(holder: HolderId): void {
    s.seenMs.delete(holder);
    s.held.delete(holder);
    if (s.judge === holder) s.judge = '';
  }

  /** Everything of holders to the front. What one lost stays in order; which of several goes first is not promised. */
  function lose(holders: readonly HolderId[], nowMs: number): number {
    const isMixed = holders.filter((holder) => heldBy(holder).length > 0).length > 1;
    let count = 0;
    --s.front;
    for (const holder of holders) {
      const losing = heldBy(holder).sort((a, b) => byPlace(b, a));
      const isEqual = losing.map((one, i) => isMixed || i === 0 || byPlace(losing[i - 1]!, one) === 0);
      const together = losing.filter(({ bulkSkip }) => !bulkSkip).length;
      losing.forEach((request, i) => loseLease(request, together, isEqual[i] ? s.front : --s.front, nowMs));
      leave(holder);
      count += losing.length;
    }
    return count;
  }

  function expire(nowMs: number): void {
    const silent: HolderId[] = [];
    for (const [holder, ms] of s.seenMs) {
      if (holder !== rules.unexpiring && nowMs - ms > rules.leaseMs) silent.push(holder);
    }
    if (silent.length === 0) return;
    for (const holder of silent) if (heldBy(holder).length > 0) s.lost.add(holder);
    lose(silent, nowMs);
  }

  /** Any call renews everything its holder holds. */
  function call(holder: HolderId, nowMs: number): void {
    expire(nowMs);
    if (s.seenMs.has(holder)) s.seenMs.set(holder, nowMs);
  }

  function returnRetries(nowMs: number): void {
    const over = [...s.retrying].filter(({ retryMs }) => retryMs <= nowMs).sort((a, b) => b.retryMs - a.retryMs);
    if (over.length === 0) return;
    const endOrder = ++s.back;
    over.forEach((request, i) => {
      if (request.toEnd) return queueLast(request, endOrder, nowMs);
      const isEqual = i > 0 && over[i - 1]!.retryMs === request.retryMs;
      enqueue(request, isEqual ? s.front : --s.front, nowMs);
    });
  }

  /** What `add` may say of an entry. The first is what a backend without chance says. */
  function allowedPresences({ fingerprint, domain, forefront }: QueueEntry): readonly Presence[] {
    const known = s.requests.get(keyOf(fingerprint));
    const canTell = rules.remembers === 'requests';
    if (known) return [isEnded(known) && canTell ? 'ended' : 'pending'];
    if (s.dropped.has(keyOf(fingerprint))) return canTell ? [forefront ? 'new' : 'ended'] : ['pending'];
    const isOver = !forefront && rules.budget !== undefined && domainOf(domain).used >= rules.budget;
    const presence = isOver ? 'ended' : 'new';
    return rules.isFilter ? [presence, 'pending'] : [presence];
  }

  function accept(entry: QueueEntry, order: number | undefined, nowMs: number): void {
    const { record, forefront } = entry;
    const request: ModelRequest = {
      ...{ entry, record, state: 'queued', order: 0, isInLine: false, retryMs: 0, toEnd: false, lost: 0 },
      ...{ trial: 0, holder: '', lease: 0, landed: false, bulkSkip: false, reason: '' },
    };
    s.requests.set(keyOf(entry.fingerprint), request);
    s.counts.queued++;
    if (forefront) enqueue(request, order === undefined ? --s.front : s.front, nowMs);
    else {
      queueLast(request, order ?? ++s.back, nowMs);
      if (rules.budget !== undefined) domainBy(request).used++;
    }
  }

  /** `unordered`: they may come in any order among each other. */
  function addAll(
    entries: readonly QueueEntry[],
    answers: readonly Presence[] | undefined,
    nowMs: number,
    unordered = false,
  ): void {
    const order = unordered ? ++s.back : undefined;
    if (unordered) --s.front;
    entries.forEach((entry, i) => {
      const allowed = allowedPresences(entry);
      const answer = answers ? answers[i] : allowed[0];
      if (!answer || !allowed.includes(answer)) {
        differs(`add said "${answer}" of ${entry.record}, which is ${allowed.join(' or ')}`);
      }
      if (answer === 'new') accept(entry, order, nowMs);
      else if (!s.requests.has(keyOf(entry.fingerprint))) s.dropped.add(keyOf(entry.fingerprint));
    });
  }

  function land(holder: HolderId, { lease, delayMs, pauseMs = 0 }: Landing, nowMs: number): void {
    const request = heldBy(holder).find((one) => one.lease === lease);
    if (!request || request.landed) return;
    const domain = domainBy(request);
    if (domain.out >= turnsOf(domain)) domain.readyMs = nowMs;
    domain.out--;
    request.landed = true;
    domain.delayMs = delayMs ?? domain.delayMs;
    const restMs = Math.max(domain.delayMs, pauseMs);
    if (restMs > 0) domain.allowedMs = Math.max(domain.allowedMs, nowMs + restMs);
  }

  function settleOne(holder: HolderId, settlement: Settlement, nowMs: number): boolean {
    const request = heldBy(holder).find((one) => one.lease === settlement.lease);
    if (!request) return false;
    const { kind } = settlement;
    if (request.bulkSkip && kind !== 'skipped' && kind !== 'failed' && kind !== 'untouched') return false;
    request.record = settlement.record ?? request.record;
    // Its holder lived through it, unless it was not tried or is still to be parsed.
    if (kind !== 'untouched' && kind !== 'handed') request.trial = 0;
    if (kind === 'untouched') giveBack(request);
    else if (kind === 'handed') {
      land(holder, { lease: request.lease }, nowMs);
      move(request, 'parsing');
      s.parsing.push(request);
    } else {
      returnTurn(request);
      if (kind !== 'retry') {
        request.reason = kind === 'done' ? '' : settlement.reason;
        move(request, kind);
      } else if (settlement.afterMs > 0) {
        request.retryMs = nowMs + settlement.afterMs;
        request.toEnd = settlement.back === true;
        move(request, 'retrying');
      } else if (settlement.back) queueLast(request, ++s.back, nowMs);
      else enqueue(request, --s.front, nowMs);
    }
    return true;
  }

  return {
    rules,
    dueMs,
    turnsOf,
    allowedPresences,
    call,
    returnRetries,
    addAll,
    get allowance() {
      return s.allowance;
    },
    set allowance(pages: number) {
      s.allowance = pages;
    },
    get judge() {
      return s.judge;
    },
    set judge(holder: HolderId) {
      s.judge = holder;
    },
    isEnrolled: (holder: HolderId): boolean => s.seenMs.has(holder),
    /** The store began again: nothing is leased until then. */
    rest: (untilMs: number): void => void (s.quietMs = Math.max(s.quietMs, untilMs)),
    get quietMs() {
      return s.quietMs;
    },
    domains: (): Iterable<ModelDomain> => s.domains.values(),
    domain: domainOf,
    retryTimes: (): number[] => [...s.retrying].map(({ retryMs }) => retryMs),
    requestOf: (fingerprint: QueueEntry['fingerprint']) => s.requests.get(keyOf(fingerprint)),
    heldBy,
    notes: (): Record<string, string> => Object.fromEntries(s.notes),
    setNote: (name: string, text: string): void => void s.notes.set(name, text),
    parsing: (): readonly ModelRequest[] => s.parsing,
    count: (state: ModelState): number => s.counts[state],

    /** The request is the holder's from now on. */
    hand(request: ModelRequest, holder: HolderId, lease: number, bulkSkip: boolean, nowMs: number): void {
      const { queue } = domainBy(request);
      queue.splice(queue.indexOf(request), 1);
      move(request, 'leased');
      Object.assign(request, { holder, lease, bulkSkip, landed: bulkSkip, isInLine: false });
      if (!bulkSkip) domainBy(request).out++;
      if (!s.seenMs.has(holder)) s.seenMs.set(holder, nowMs);
      const held = s.held.get(holder) ?? new Set();
      s.held.set(holder, held.add(request));
    },

    /** The first capture of the parse queue is the holder's from now on. */
    pull(holder: HolderId, nowMs: number): ModelRequest | undefined {
      const request = s.parsing.shift();
      if (!request) return undefined;
      move(request, 'leased');
      request.holder = holder;
      if (!s.seenMs.has(holder)) s.seenMs.set(holder, nowMs);
      const held = s.held.get(holder) ?? new Set();
      s.held.set(holder, held.add(request));
      return request;
    },

    add(holder: HolderId, entries: readonly QueueEntry[], answers: readonly Presence[] | undefined, nowMs: number) {
      call(holder, nowMs);
      addAll(entries, answers, nowMs);
    },

    /** Links of another pod. Their call, as any, finds out who fell silent here. */
    arrive(entries: readonly QueueEntry[], nowMs: number, unordered = false): void {
      expire(nowMs);
      addAll(entries, undefined, nowMs, unordered);
    },

    /** What the backend must answer. */
    settle(holder: HolderId, settling: Omit<SettleCall, 'holder' | 'call'>, nowMs: number): SettleAnswer {
      const { landings = [], settlements, notes = {} } = settling;
      call(holder, nowMs);
      if (s.lost.has(holder)) return { held: false, accepted: settlements.map(() => false) };
      for (const landing of landings) land(holder, landing, nowMs);
      const accepted = settlements.map((settlement) => {
        const isIts = settleOne(holder, settlement, nowMs);
        if (isIts && settlement.links) addAll(settlement.links, undefined, nowMs);
        return isIts;
      });
      for (const [name, text] of Object.entries(notes)) {
        if (text === null) s.notes.delete(name);
        else s.notes.set(name, text);
      }
      return { held: true, accepted };
    },

    release(holder: HolderId, nowMs: number): number {
      expire(nowMs);
      s.lost.add(holder);
      return lose([holder], nowMs);
    },

    /** A process ended: everything of its holders goes back as if never leased, or is lost with it. `over`: so it does,
     * and its holders are refused from now on. */
    end(isEnding: (holder: HolderId) => boolean, how: 'close' | 'kill' | 'over', nowMs: number): void {
      const ending = [...s.seenMs.keys()].filter(isEnding);
      if (how !== 'close') for (const holder of ending) s.lost.add(holder);
      if (how === 'kill') return void lose(ending, nowMs);
      expire(nowMs);
      for (const holder of ending) {
        for (const request of heldBy(holder)) giveBack(request);
        leave(holder);
      }
    },

    isLost(holder: HolderId, nowMs: number): boolean {
      const silentMs = nowMs - (s.seenMs.get(holder) ?? nowMs);
      const isSilent = silentMs > rules.leaseMs && heldBy(holder).length > 0 && holder !== rules.unexpiring;
      return s.lost.has(holder) || isSilent;
    },

    /** What `find` must say. */
    find(fingerprint: QueueEntry['fingerprint']): Found | undefined {
      const request = s.requests.get(keyOf(fingerprint));
      if (!request) return undefined;
      if (rules.remembers === 'fingerprints') return { state: 'known', record: '', priority: 0 };
      const { state, record, reason, entry } = request;
      const found = { state: state === 'parsing' ? 'leased' : state, record, priority: entry.priority ?? 0 } as const;
      return state === 'failed' || state === 'skipped' ? { ...found, reason } : found;
    },

    counters(nowMs: number): Counters {
      expire(nowMs);
      const { queued, retrying, leased, parsing, done, failed, skipped } = s.counts;
      return { accepted: s.requests.size, queued, retrying, leased: leased + parsing, done, failed, skipped };
    },

    /** Everything as it is now, to come back to. */
    snapshot: (): unknown => structuredClone(s),
    goBack: (snapshot: unknown): void => void (s = structuredClone(snapshot as State)),
  };
}
