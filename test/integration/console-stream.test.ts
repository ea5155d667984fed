// The stream behind the console: one snapshot, then changes; shared by all viewers, resumed by id, bounded.
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createChannel, type Topic } from '../../src/serve/console/channel.js';
import { eventually } from '../support/serve.js';

interface Event {
  readonly type: string;
  readonly id: string;
  readonly data: { set: Record<string, unknown>; gone?: string[]; add: Record<string, unknown[]> };
}

async function serving(
  topic: Topic,
  use: (watch: (lastId?: string) => Promise<Watching>, reads: () => number) => Promise<void>,
) {
  let reads = 0;
  const counted: Topic = { ...topic, state: () => (reads++, topic.state()) };
  const channel = createChannel({ topic: counted, onEmpty: () => undefined, everyMs: 20 });
  const server = createServer((asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void channel.watch(response, asked.headers['last-event-id'] as string | undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const watch = (lastId?: string): Promise<Watching> =>
    new Promise((resolve) => {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
      request({ host: '127.0.0.1', port, headers }, (answer) => resolve(watching(answer))).end();
    });
  try {
    await use(watch, () => reads);
  } finally {
    channel.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

interface Watching {
  readonly events: Event[];
  readonly answer: IncomingMessage;
}

function watching(answer: IncomingMessage): Watching {
  const events: Event[] = [];
  let text = '';
  answer.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const [, type] = /^event: (.*)$/m.exec(block) ?? [];
      if (type)
        events.push({ type, id: /^id: (.*)$/m.exec(block)![1]!, data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) });
    }
  });
  answer.on('error', () => undefined);
  return { events, answer };
}

describe('a channel', () => {
  it('sends a snapshot and then only what changed, and names what is gone', async () => {
    const state: Record<string, unknown> = { a: 1, b: 'same' };
    await serving({ state: async () => ({ ...state }) }, async (watch) => {
      const { events } = await watch();
      await eventually(async () => events.length === 1, 'the snapshot');
      expect(events[0]).toMatchObject({ type: 'snapshot', data: { set: { a: 1, b: 'same' } } });
      state.a = 2;
      await eventually(async () => events.length === 2, 'the change');
      expect(events[1]).toMatchObject({ type: 'change', data: { set: { a: 2 } } });
      expect(events[1]!.data.set).not.toHaveProperty('b');
      delete state.a;
      await eventually(async () => events.length === 3, 'the end');
      expect(events[2]!.data.gone).toEqual(['a']);
    });
  });

  it('resumes by id without a gap, and with a snapshot when too much was missed', async () => {
    let number = 0;
    await serving({ state: async () => ({ number }) }, async (watch) => {
      const first = await watch();
      const keeper = await watch();
      await eventually(async () => first.events.length === 1, 'the snapshot');
      const { id } = first.events[0]!;
      first.answer.destroy();
      for (; number < 5; number++)
        await eventually(async () => keeper.events.at(-1)!.data.set.number === number, 'each');
      const again = await watch(id);
      await eventually(async () => again.events.length >= 4, 'what was missed');
      expect(again.events.every(({ type }) => type === 'change')).toBe(true);
      expect(again.events.map(({ data }) => data.set.number).slice(0, 4)).toEqual([1, 2, 3, 4]);
      const stranger = await watch('other.3');
      await eventually(async () => stranger.events.length > 0, 'a snapshot');
      expect(stranger.events[0]!.type).toBe('snapshot');
    });
  });

  it('reads its state once per tick for any number of watchers', async () => {
    let number = 0;
    await serving({ state: async () => ({ number: number++ }) }, async (watch, reads) => {
      const all = await Promise.all(Array.from({ length: 10 }, () => watch()));
      await eventually(async () => all.every(({ events }) => events.length > 10), 'all see changes');
      const before = reads();
      const seen = all[0]!.events.length;
      await eventually(async () => all[0]!.events.length >= seen + 10, 'ten more');
      expect(reads() - before).toBeLessThanOrEqual(14);
    });
  });

  it('holds little for a reader that does not read, and gives it a snapshot when it is back', async () => {
    let number = 0;
    const big = 'x'.repeat(400_000);
    await serving({ state: async () => ({ number: number++, big: `${big}${number}` }) }, async (watch) => {
      const slow = await watch();
      await eventually(async () => slow.events.length > 0, 'the first');
      slow.answer.pause();
      const before = process.memoryUsage().rss;
      const quick = await watch();
      await eventually(async () => quick.events.length > 75, 'thirty megabytes go to the other');
      expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
      slow.answer.resume();
      await eventually(async () => slow.events.filter(({ type }) => type === 'snapshot').length >= 2, 'a new snapshot');
    });
  });
});
