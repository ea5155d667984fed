// The end of a history: everything pending is finished, and nothing may be left over.
import { differs, mustEqual } from './difference.js';
import type { Faults } from './faults.js';
import type { ModelScene, Pod } from './scene.js';
import type { Visits } from './visits.js';

/** Ends everything that is pending; throws if something cannot be ended. */
export async function drainScene(scene: ModelScene, visits: Visits, faults: Faults): Promise<void> {
  const { clock, pods, slots, away, openingOf, now, settled, check, bury } = scene;
  const { lease, settle, pull } = visits;
  const { takeIn, deliver } = faults;

  const isPending = (pod: Pod): boolean =>
    ['queued', 'retrying', 'leased', 'parsing'].some((state) => pod.model.count(state as 'queued') > 0);

  /** One pass over a pod: keeper, parse queue, what is held, what is due. How many ended. */
  async function work(pod: Pod): Promise<number> {
    const { model, store } = pod;
    for (const { keep } of store.openings) for (let i = 0; i < 3; i++) await keep?.();
    const ended = () => model.count('done') + model.count('failed') + model.count('skipped');
    const before = ended();
    for (const slot of slots) {
      if (slot.pod !== pod) continue;
      await settled();
      if (model.isLost(slot.id, now(pod))) await bury(slot);
      await pull(slot, 100);
      await lease(slot, 100);
      const held = model.heldBy(slot.id);
      const landings = held.map((request) => ({ lease: request.lease, delayMs: 0 }));
      const settlements = held.map(({ lease: id, bulkSkip }) =>
        bulkSkip ? ({ kind: 'skipped', lease: id, reason: 'r' } as const) : ({ kind: 'done', lease: id } as const),
      );
      await settle(slot, { landings, settlements });
      await check(pod, openingOf(slot));
    }
    await settled();
    return ended() - before;
  }

  await settled();
  away.clear();
  let idle = 0;
  for (const pod of pods) {
    await pod.store.openings[0]!.allow?.(Infinity);
    pod.model.allowance = Infinity;
  }
  while (pods.some((pod) => isPending(pod) || pod.inbox.length > 0 || pod.outbox.length > 0)) {
    let moved = 0;
    for (const pod of pods) {
      await deliver(pod);
      await takeIn(pod, false);
      moved += await work(pod);
    }
    idle = moved > 0 ? 0 : idle + 1;
    if (idle > 0) clock.advance(idle > 3 ? 61_000 : 400);
    if (idle > 12) {
      const stuck = pods
        .filter(isPending)
        .map(({ index, model }) => `pod ${index}: ${JSON.stringify(model.counters(0))}`);
      differs(`forgotten: nothing comes any more, though these are pending: ${stuck.join('; ')}`);
    }
  }
  for (const pod of pods) {
    await check(pod);
    await settled();
    const numbers = (await pod.store.numbers?.()) ?? {};
    for (const name of pod.store.zeroAtEnd ?? []) mustEqual(`${name} at the end`, numbers[name], 0);
  }
}
