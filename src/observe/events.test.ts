// The event hub: who hears what, and whose failure hurts whom.
import { describe, expect, it } from 'vitest';
import { createEventHub, EventType } from './events.js';

describe('an event hub', () => {
  it('calls the listeners of an event and waits for them', async () => {
    const hub = createEventHub(() => undefined);
    const heard: unknown[] = [];
    hub.on(EventType.PERSIST_STATE, async (payload) => {
      await Promise.resolve();
      heard.push(payload);
    });
    hub.on('migrating', () => heard.push('never'));
    await hub.emit('persistState', { isMigrating: false });
    expect(heard).toEqual([{ isMigrating: false }]);
  });

  it('forgets one listener or all', async () => {
    const hub = createEventHub(() => undefined);
    const one = () => undefined;
    hub.on('exit', one);
    hub.on('exit', () => undefined);
    hub.off('exit', one);
    expect(hub.listenerCount(EventType.EXIT)).toBe(1);
    hub.off('exit');
    expect(hub.listenerCount('exit')).toBe(0);
  });

  it('keeps one listener’s failure from the others and from who emits', async () => {
    const errors: unknown[] = [];
    const hub = createEventHub((error, event) => errors.push([event, (error as Error).message]));
    let called = 0;
    hub.on('aborting', () => {
      throw new Error('sync');
    });
    hub.on('aborting', () => Promise.reject(new Error('async')));
    hub.on('aborting', () => called++);
    await hub.emit('aborting', undefined);
    expect(called).toBe(1);
    expect(errors).toEqual([
      ['aborting', 'sync'],
      ['aborting', 'async'],
    ]);
  });
});
