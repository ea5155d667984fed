// Crawlee's RequestList: made and initialized, saved on the event, and refused where it does not fit.
import { beforeEach, describe, expect, it } from 'vitest';
import { Configuration, EventType, KeyValueStore, Request, RequestList } from '../../src/crawlee/entry.js';

const sources = ['1', '2', '3'].map((name) => ({ url: `https://example.com/${name}` }));
let config: Configuration;
beforeEach(() => void (config = new Configuration({ persistStorage: false })));

describe('RequestList', () => {
  it('must be initialized, once', async () => {
    const list = new RequestList({ sources, config });
    await expect(list.fetchNextRequest()).rejects.toThrow('not initialized');
    await list.initialize();
    expect(list.length()).toBe(3);
    await expect(list.initialize()).rejects.toThrow('already loading or were loaded');
    expect(() => new RequestList({ config })).toThrow('At least one of "sources"');
  });

  it('saves its state on the event and its requests at once, and goes on from both', async () => {
    const list = await RequestList.open('my', sources, { config });
    const [first, second] = [await list.fetchNextRequest(), await list.fetchNextRequest()];
    await list.markRequestHandled(first!);
    expect([list.isStatePersisted, list.areRequestsPersisted]).toEqual([false, true]);
    config.getEventManager().emit(EventType.PERSIST_STATE, { isMigrating: false });
    await expect.poll(() => list.isStatePersisted).toBe(true);
    const store = await KeyValueStore.open(null, { config });
    expect(await store.getValue('SDK_my-REQUEST_LIST_STATE')).toEqual(list.getState());
    await list.teardown();
    const again = await RequestList.open('my', [], { config });
    expect([again.length(), again.handledCount()]).toEqual([3, 1]);
    expect((await again.fetchNextRequest())!.url).toBe(second!.url);
  });

  it('refuses what is not in progress, and a state of other sources', async () => {
    const list = await RequestList.open(null, sources, { config });
    await expect(list.reclaimRequest(new Request({ url: 'https://x.com' }))).rejects.toThrow('not being processed');
    const state = { nextIndex: 1, nextUniqueKey: 'other', inProgress: [] };
    await expect(RequestList.open(null, sources, { config, state })).rejects.toThrow('order of URLs');
  });
});
