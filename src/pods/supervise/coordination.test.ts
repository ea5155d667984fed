import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AllowanceAct, PodReading } from '../../frontier/redis/pod-operations.js';
import { createCoordination } from './coordination.js';
import type { PodView } from '../stores/pod-view.js';

/** A pod that does what it is allowed, some at a time. */
function modelPod(index: number, pages: number) {
  const state = { done: 0, leased: 0, queued: pages, allowance: undefined as number | undefined, isAway: false };
  let isSeeded = true;
  const used = () => state.done + state.leased;
  const view: PodView = {
    index,
    async reading(): Promise<PodReading> {
      if (state.isAway) throw new Error('away');
      const { done, leased, queued, allowance } = state;
      const rest = { retrying: 0, failed: 0, skipped: 0, parsing: 0, parseBytes: 0, outbox: 0, spilled: 0 };
      return {
        ...rest,
        accepted: pages,
        done,
        leased,
        queued,
        allowance,
        dueDomains: queued > 0 ? 1 : 0,
        restingDomains: 0,
        dropped: 0,
        lostWorkers: 0,
      };
    },
    outboxByPod: () => Promise.resolve(new Map()),
    isSeeded: () => Promise.resolve(isSeeded),
    async changeAllowance(_epoch, change: AllowanceAct) {
      if (state.isAway) throw new Error('away');
      const before = state.allowance ?? 0;
      if (change.act === 'lift') state.allowance = undefined;
      else if (change.act === 'limit') state.allowance = Math.max(before, used());
      else if ('pages' in change && change.known === before) {
        state.allowance =
          change.act === 'give' ? before + change.pages : before - Math.max(0, Math.min(change.pages, before - used()));
      }
      return { held: true, pages: Math.abs((state.allowance ?? 0) - before), allowance: state.allowance };
    },
    close: () => Promise.resolve(),
  };
  return {
    view,
    state,
    seed: (now: boolean) => (isSeeded = now),
    lease(most: number): void {
      const room = state.allowance === undefined ? Infinity : state.allowance - used();
      const count = Math.max(0, Math.min(most, state.queued, room));
      state.queued -= count;
      state.leased += count;
    },
    finish(most: number): void {
      const count = Math.min(most, state.leased);
      state.leased -= count;
      state.done += count;
    },
  };
}

const coordinate = (pods: readonly ReturnType<typeof modelPod>[], maxPages?: number) =>
  createCoordination({ pods: pods.map(({ view }) => view), epoch: 1, maxPages, isStopped: () => false });

describe('coordination', () => {
  it('reaches max_pages exactly and never exceeds it, however pages and speeds are spread', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(60), { minLength: 1, maxLength: 5 }),
        fc.nat(120),
        fc.array(fc.nat(9), { minLength: 5, maxLength: 5 }),
        async (sizes, wanted, speeds) => {
          const maxPages = wanted + 1;
          const pods = sizes.map((size, index) => modelPod(index, size));
          const all = sizes.reduce((sum, size) => sum + size, 0);
          for (const { view } of pods) await view.changeAllowance(0, { act: 'limit' });
          const coordination = coordinate(pods, maxPages);
          for (let round = 0; round < 400; round++) {
            if ((await coordination.look()) !== undefined) break;
            for (const [index, pod] of pods.entries()) {
              pod.lease(speeds[index]!);
              pod.finish(speeds[(index + round) % 5]!);
              if (round > 100) {
                pod.lease(3);
                pod.finish(3);
              }
            }
            const done = pods.reduce((sum, { state }) => sum + state.done + state.leased, 0);
            expect(done).toBeLessThanOrEqual(maxPages);
          }
          expect(coordination.pages).toBe(Math.min(maxPages, all));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is exhausted only after two quiet readings of all pods with the seeds in', async () => {
    const pods = [modelPod(0, 0), modelPod(1, 1)];
    const coordination = coordinate(pods);
    expect(await coordination.look()).toBeUndefined();
    pods[1]!.lease(1);
    pods[1]!.finish(1);
    expect(await coordination.look()).toBeUndefined();
    pods[0]!.seed(false);
    expect(await coordination.look()).toBeUndefined();
    pods[0]!.seed(true);
    expect(await coordination.look()).toBeUndefined();
    pods[0]!.state.isAway = true;
    expect(await coordination.look()).toBeUndefined();
    pods[0]!.state.isAway = false;
    expect(await coordination.look()).toBeUndefined();
    expect(await coordination.look()).toBe('exhausted');
  });

  it('finds pages again that were on their way when a pod went away', async () => {
    const pods = [modelPod(0, 0), modelPod(1, 50)];
    const coordination = coordinate(pods, 20);
    // Pod 0 got its share, and pod 1 was away when it should have got its own.
    const { changeAllowance } = pods[1]!.view;
    Object.assign(pods[1]!.view, {
      changeAllowance: (epoch: number, change: AllowanceAct) =>
        change.act === 'give' ? Promise.reject(new Error('away')) : changeAllowance(epoch, change),
    });
    await expect(coordination.look()).rejects.toThrow('away');
    Object.assign(pods[1]!.view, { changeAllowance });
    for (let round = 0; round < 5; round++) {
      await coordination.look();
      pods[1]!.lease(50);
      pods[1]!.finish(50);
    }
    expect(await coordination.look()).toBe('max_pages');
    expect(coordination.pages).toBe(20);
  });
});
