import { describe, expect, it } from 'vitest';
import { Configuration } from '../../configuration.js';
import { EventType } from '../../event-names.js';
import { evaluateLoadSignalSample, type LoadSignal, MemoryLoadSignal, SnapshotStore } from './index.js';
import { Snapshotter, SystemStatus } from './index.js';

const at = (ms: number, isOverloaded: boolean) => ({ createdAt: new Date(ms), isOverloaded });

describe('a sample of load', () => {
  it('counts each snapshot for the time since the one before it', () => {
    expect(evaluateLoadSignalSample([], 0.5)).toEqual({ isOverloaded: false, limitRatio: 0.5, actualRatio: 0 });
    expect(evaluateLoadSignalSample([at(0, true)], 0.5).actualRatio).toBe(1);
    const sample = [at(0, true), at(100, false), at(400, true)];
    expect(evaluateLoadSignalSample(sample, 0.5)).toEqual({ isOverloaded: true, limitRatio: 0.5, actualRatio: 0.75 });
  });

  it('is of its window only', () => {
    const store = new SnapshotStore(1_000);
    for (const ms of [0, 500, 1_200]) store.push(at(ms, false), new Date(ms));
    expect(store.getAll().map(({ createdAt }) => +createdAt)).toEqual([500, 1_200]);
    expect(store.getSample(300)).toHaveLength(1);
    expect(store.getSample()).toHaveLength(2);
  });
});

describe('the status of the system', () => {
  it('is overloaded when memory is, as system information tells it', async () => {
    const config = new Configuration({ memoryMbytes: 100, persistStorage: false });
    const snapshotter = new Snapshotter({ config });
    await snapshotter.start();
    const status = new SystemStatus({ snapshotter });
    const tell = (memCurrentBytes: number, ms: number) =>
      config.getEventManager().emit(EventType.SYSTEM_INFO, { createdAt: new Date(ms), memCurrentBytes });
    tell(10, 1_000);
    expect(status.getCurrentStatus().memInfo.isOverloaded).toBe(false);
    tell(99 * 1024 * 1024, 2_000);
    await config.getEventManager().waitForAllListenersToComplete();
    await snapshotter.stop();
    expect(snapshotter.memorySnapshots.map(({ isOverloaded }) => isOverloaded)).toEqual([false, true]);
    expect(status.getHistoricalStatus()).toMatchObject({ isSystemIdle: false, memInfo: { actualRatio: 1 } });
  });

  it('takes signals of scripts, each by its own limit', () => {
    const signal = (name: string, overloadedRatio: number): LoadSignal => ({
      name,
      overloadedRatio,
      start: async () => undefined,
      stop: async () => undefined,
      getSample: () => [at(0, true), at(100, true), at(200, false)],
    });
    const snapshotter = { getLoadSignals: () => [] } as unknown as Snapshotter;
    const status = new SystemStatus({ snapshotter, loadSignals: [signal('proxies', 0.6), signal('pages', 0.4)] });
    const { isSystemIdle, loadSignalInfo } = status.getCurrentStatus();
    expect(isSystemIdle).toBe(false);
    expect((status as unknown as { snapshotter: unknown }).snapshotter).toBe(snapshotter);
    expect(loadSignalInfo).toMatchObject({ proxies: { isOverloaded: false }, pages: { isOverloaded: true } });
  });

  it('warns of memory once in a while', async () => {
    const lines: string[] = [];
    const log = { warning: (line: string) => void lines.push(line), debug: () => undefined };
    const signal = new MemoryLoadSignal({ config: new Configuration({ memoryMbytes: 1 }), log });
    await signal.start();
    for (const ms of [0, 1_000, 20_000]) {
      signal._onSystemInfo({ createdAt: new Date(ms + 1), memCurrentBytes: 1024 * 1024 } as never);
    }
    await signal.stop();
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('1 MB of 1 MB (100%)');
  });
});
