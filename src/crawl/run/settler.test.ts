import { beforeEach, describe, expect, it } from 'vitest';
import { CrawlError } from '../../errors.js';
import type { Lease } from '../../frontier/frontier.js';
import { createManualTime } from '../../../test/support/manual-time.js';
import { createFrontierClient, type FrontierClient } from '../../frontier/client.js';
import { createMemoryFrontier } from '../../frontier/embedded/store/memory.js';
import { createRecentFingerprints } from '../../frontier/recent.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import type { VisitWriter } from '../../store/dataset/visit-segments.js';
import { createSettler, type Settler } from './settler.js';

const LEASE_MS = 1000;

/** A segment in memory that can be told to fail. */
function createWriter(key: string) {
  let text = '';
  const writer = {
    key,
    full: false,
    failing: false,
    get text() {
      return text;
    },
    get length() {
      return text.length;
    },
    get note() {
      return String(text.length);
    },
    async append(lines: string) {
      if (writer.failing) throw new Error('disk full');
      text += lines;
    },
    async cutTo(length: number) {
      text = text.slice(0, length);
    },
    async close() {},
  };
  return writer satisfies VisitWriter & { text: string };
}

describe('a settler', () => {
  let nowMs = 0;
  let frontier: ReturnType<typeof createMemoryFrontier>;
  let client: FrontierClient;
  let writers: ReturnType<typeof createWriter>[];
  let failures: unknown[];
  let settler: Settler;
  let duplicates: string[];

  beforeEach(() => {
    nowMs = 0;
    const clock = { monotonicMs: () => nowMs, wallMs: () => 1e12 + nowMs, bootId: 'test' };
    frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 10 }, leaseMs: LEASE_MS, clock });
    client = createFrontierClient(frontier, { id: 'one' });
    writers = [];
    failures = [];
    duplicates = [];
    settler = createSettler({
      client,
      time: createManualTime(),
      recent: createRecentFingerprints(),
      openWriter: async () => {
        const writer = createWriter(`segment-${writers.length}`);
        writers.push(writer);
        return writer;
      },
      onDuplicate: ({ record }) => duplicates.push(record),
      onFailure: (error) => failures.push(error),
      onFlushed: () => undefined,
    });
  });

  const entry = (name: string) => ({ fingerprint: fingerprintOf(name), domain: 'a.example', record: name });
  async function lease(...names: string[]): Promise<Lease[]> {
    await client.add(names.map(entry));
    return [...(await client.lease({ max: names.length })).leases];
  }
  const done = (one: Lease, line: string, links: string[] = []) =>
    settler.settle({
      settlement: { kind: 'done', lease: one.id, links: links.map(entry) },
      items: [{ dataset: undefined, lines: Buffer.from(line) }],
      life: client.id,
    });

  it('tells of links that two visits found, but not of what a redirect leads to', async () => {
    const [first, second, third, fourth] = await lease('1', '2', '3', '4');
    await done(first!, '', ['5', '6']);
    await done(second!, '', ['6']);
    await settler.flush();
    await done(third!, '', ['5', '7']);
    const settlement = { kind: 'skipped', lease: fourth!.id, reason: 'redirected', links: [entry('7')] } as const;
    await settler.settle({ settlement, items: [], life: client.id });
    await settler.flush();
    expect(duplicates).toEqual(['6', '5']);
  });

  it('writes items, links, acknowledgement and the segment length together', async () => {
    const [first, second] = await lease('1', '2');
    await done(first!, '{"n":1}\n', ['3', '4']);
    await done(second!, '{"n":2}\n', ['4']);
    await settler.flush();
    const { counters, notes } = await frontier.overview();
    expect(counters).toMatchObject({ accepted: 4, done: 2, queued: 2 });
    expect(writers[0]!.text).toBe('{"n":1}\n{"n":2}\n');
    expect(notes).toEqual({ 'segment-0': '16' });
  });

  it('takes back the items of a holder that was lost, and queues none of its links', async () => {
    const [first] = await lease('1');
    nowMs += LEASE_MS + 1;
    let held: boolean | undefined;
    await settler.settle({
      settlement: { kind: 'done', lease: first!.id, links: [entry('2')] },
      items: [{ dataset: undefined, lines: Buffer.from('{"n":1}\n') }],
      life: 'one',
      onSettled: (was) => (held = was),
    });
    await settler.flush();
    expect(held).toBe(false);
    expect(writers.map((writer) => writer.text).join('')).toBe('');
    expect((await frontier.overview()).counters).toMatchObject({ accepted: 1, done: 0, queued: 1 });
    // The next life goes on.
    const [again] = (await client.lease({ max: 1 })).leases;
    await done(again!, '{"n":1}\n');
    await settler.flush();
    expect(writers.at(-1)!.text).toBe('{"n":1}\n');
    expect((await frontier.overview()).counters.done).toBe(1);
  });

  it('takes back items when the life ends between their writing and the settle', async () => {
    const [first, second] = await lease('1', '2');
    await done(first!, '{"n":1}\n');
    await settler.flush();
    nowMs += LEASE_MS + 1;
    await done(second!, '{"n":2}\n', ['3']);
    await settler.flush();
    expect(writers[0]!.text).toBe('{"n":1}\n');
    expect((await frontier.overview()).counters).toMatchObject({ accepted: 2, done: 1, queued: 1 });
  });

  it('reports a failing store, acknowledges nothing and leaves nothing half-written', async () => {
    const [first, second] = await lease('1', '2');
    await done(first!, '{"n":1}\n');
    await settler.flush();
    writers[0]!.failing = true;
    await done(second!, '{"n":2}\n');
    await settler.flush();
    expect(failures).toHaveLength(1);
    expect(writers[0]!.text).toBe('{"n":1}\n');
    expect((await frontier.overview()).counters).toMatchObject({ done: 1, leased: 1 });
  });

  it('keeps what it wrote when no answer came: the step may have happened', async () => {
    const [first, second] = await lease('1', '2');
    await done(first!, '{"n":1}\n');
    await settler.flush();
    const settle = client.settle.bind(client);
    client.settle = async (...call) => {
      await settle(...call);
      throw new CrawlError('QUEUE_UNREACHABLE', 'the answer was lost');
    };
    await done(second!, '{"n":2}\n');
    await settler.flush();
    expect(failures).toHaveLength(1);
    expect((await frontier.overview()).notes).toEqual({ 'segment-0': '16' });
    expect(writers[0]!.text).toBe('{"n":1}\n{"n":2}\n');
  });

  it('opens another segment when one is full, noted before its first line', async () => {
    const [first, second] = await lease('1', '2');
    await done(first!, '{"n":1}\n');
    await settler.flush();
    writers[0]!.full = true;
    await done(second!, '{"n":2}\n');
    await settler.flush();
    expect(writers.map((writer) => writer.text)).toEqual(['{"n":1}\n', '{"n":2}\n']);
    expect((await frontier.overview()).notes).toEqual({ 'segment-0': '8', 'segment-1': '8' });
  });
});
