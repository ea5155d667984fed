import { describe, expect, it } from 'vitest';
import { placementOf } from '../placement.js';
import type { FromVisitor } from './messages.js';
import { createVisitor } from './visitor.js';

const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));

function scene() {
  const told: FromVisitor<string>[] = [];
  const visitor = createVisitor<string>((message) => void told.push(message));
  const { frontier, ended } = placementOf(visitor.items)!;
  const settle = () => void frontier.settle({ holder: 'a', settlements: [] } as never).catch(() => undefined);
  const heard = () => told.map((message) => (message.kind === 'call' ? message.name : message.kind));
  return { visitor, ended, settle, heard };
}

describe('a process that visits URLs of a batch', () => {
  it('ends no lease before the results of what ended are sent, however long they wait to be read', async () => {
    const { visitor, ended, settle, heard } = scene();
    for (const index of Array.from({ length: 33 }, (_, at) => at)) ended(index);
    const sending = (async () => {
      for (let index = 0; index < 33; index++) await visitor.send(index, `page ${index}`);
    })();
    settle();
    await microtasks();
    expect(heard()).toEqual(Array.from({ length: 32 }, () => 'result'));
    // What ends later is not waited for.
    ended(33);
    visitor.hear({ kind: 'read' });
    visitor.hear({ kind: 'read' });
    await sending;
    await microtasks();
    expect(heard().slice(32)).toEqual(['result', 'settle']);
  });

  it('waits for no result once it is left', async () => {
    const { visitor, ended, settle, heard } = scene();
    ended(0);
    settle();
    await microtasks();
    expect(heard()).toEqual([]);
    visitor.leave();
    await microtasks();
    expect(heard()).toEqual(['settle']);
  });
});
