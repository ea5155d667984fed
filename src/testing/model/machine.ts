// Drives a backend and the model with the same steps and compares them after each: answers, counters, and that no
// number of the store is below zero. A difference throws; nothing is repaired.
import { landingOf, settlingOf } from './calls.js';
import { differs, mustEqual } from './difference.js';
import { drainScene } from './drain.js';
import { createFaults } from './faults.js';
import { createModelScene, type Pod } from './scene.js';
import type { ModelWorld } from './store.js';
import { mixed, type Setting, type Step } from './steps.js';
import { createVisits } from './visits.js';

export interface Machine {
  readonly pods: readonly Pod[];
  play(step: Step): Promise<void>;
  /** Ends everything that is pending; throws if something cannot be ended. */
  drain(): Promise<void>;
}

const ADVANCES_MS = [0, 1, 10, 50, 100, 300, 500, 1_000, 3_000, 6_000] as const;
const WALL_JUMPS_MS = [-3_600_000, -5_000, -100, 60_000, 3_600_000] as const;
export function createModelMachine(world: ModelWorld, setting: Setting): Machine {
  const scene = createModelScene(world, setting);
  const { clock, pods, slots, everyDomain, urls, away, openingOf, now, settled, check, bury, takeLast } = scene;
  const visits = createVisits(scene);
  const faults = createFaults(scene);
  const { add, lease, settle, pull, find, allow } = visits;
  const { reopen, restart, mark, loseTail, takeIn, deliver } = faults;

  async function play(step: Step): Promise<void> {
    const { kind, a, b, c } = step;
    const slot = slots[a % slots.length]!;
    const { pod } = slot;
    const opening = openingOf(slot);
    const previous = kind === 'restart' ? undefined : takeLast();
    if (!['add', 'wave', 'lease', 'settle', 'land'].includes(kind)) await settled();
    if (pod.model.isLost(slot.id, now(pod))) await bury(slot);
    switch (kind) {
      case 'add':
        await add(slot, urls.some(step, pod.domains, mixed(b, 5, 5) === 0 ? 1 + (b % 30) : 1 + (b % 4)));
        break;
      case 'wave': {
        const most = Math.max(20, 3 * setting.head);
        await add(
          slot,
          urls.wave(pod.domains[c % pod.domains.length]!, 1 + (mixed(b, 6, 3) === 0 ? b % most : b % 20)),
        );
        break;
      }
      case 'lease':
        await lease(slot, mixed(b, 7, 6) === 0 ? b % 101 : b % 8, step);
        break;
      case 'settle': {
        const linksFor = (i: number) =>
          setting.seen === 'small bloom' ? [] : urls.some({ ...step, b: b + i }, everyDomain, mixed(c, i + 5, 5));
        await settle(
          slot,
          settlingOf(step, pod.model.heldBy(slot.id), { linksFor, parses: opening.pull !== undefined }),
        );
        break;
      }
      case 'land': {
        const held = pod.model.heldBy(slot.id);
        const landings = held.slice(b % 4, (b % 4) + 3).map((request, i) => landingOf(request, c, i));
        await settle(slot, { landings, settlements: [] });
        break;
      }
      case 'release': {
        const lost = await opening.frontier.release(slot.id);
        mustEqual('leases lost', lost, pod.model.release(slot.id, now(pod)));
        // A settle whose reply was lost before its holder was: it has happened, and says so.
        if (previous?.isSettle && previous.holder === slot.id) {
          mustEqual('the answer to a settle repeated by a lost holder', await previous.make(), previous.answer);
          pod.model.call(slot.id, now(pod));
        }
        break;
      }
      case 'advance':
        clock.advance(b % 40 === 0 ? setting.leaseMs + 1 : ADVANCES_MS[b % ADVANCES_MS.length]!);
        return;
      case 'wall':
        clock.jumpWall(WALL_JUMPS_MS[b % WALL_JUMPS_MS.length]!);
        for (const one of pods) {
          await one.store.tick?.();
          const behindMs = await one.store.behindMs();
          if (behindMs < one.behindMs) differs(`a clock that jumped moved time ${one.behindMs - behindMs} ms ahead`);
          one.behindMs = behindMs;
        }
        break;
      case 'repeat':
        // Its reply was lost: the first answer again, and nothing changes.
        if (!previous) return;
        mustEqual('the answer to a repeated call', await previous.make(), previous.answer);
        return check(previous.pod);
      case 'find':
        await find(pod, opening.frontier, step);
        break;
      case 'keep':
        await opening.keep?.();
        break;
      case 'reopen':
        await reopen(pod, step);
        break;
      case 'restart':
        await restart();
        break;
      case 'mark':
        await mark();
        break;
      case 'loseTail':
        await loseTail(step);
        break;
      case 'pull':
        await pull(slot, b % 6);
        break;
      case 'allow':
        if (!opening.allow) return;
        pod.model.allowance = await allow(pod, opening, c % 3 === 0 ? Infinity : pod.model.count('done') + (b % 40));
        break;
      case 'takeIn':
        await takeIn(pod, b % 5 === 0);
        break;
      case 'deliver':
        await deliver(pod);
        break;
      case 'away':
        if (pods.length === 1 || pod.store.receives === 'inbox') return;
        if (!away.delete(pod.index)) away.add(pod.index);
        return;
      default:
        return kind satisfies never;
    }
    await check(pod, openingOf(slot));
  }

  return { pods, play, drain: () => drainScene(scene, visits, faults) };
}
