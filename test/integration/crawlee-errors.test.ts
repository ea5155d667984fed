// Crawlee's count of errors and its snapshots, as `orcrawl/crawlee` has them.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import {
  ByteCounterStream,
  Configuration,
  ErrorSnapshotter,
  ErrorTracker,
  KeyValueStore,
} from '../../src/crawlee/entry.js';

const STACK = 'Error: x\n    at foo (a.js:1:2)\n    at bar (b.js:3:4)';
const thrown = (message: string, more: object = {}) => Object.assign(new Error(message), { stack: STACK }, more);
const openStore = () => KeyValueStore.open(null, { config: new Configuration({ persistStorage: false }) });

describe('ErrorTracker', () => {
  it('groups by the place, the code, the name and the message', () => {
    const tracker = new ErrorTracker();
    tracker.add(thrown('a'));
    tracker.add(thrown('a'));
    expect(tracker.result).toEqual({ 'a.js:1:2': { 'missing error code': { Error: { a: { count: 2 } } } } });
    const full = new ErrorTracker({ showFullStack: true });
    full.add(thrown('a'));
    expect(Object.keys(full.result)).toEqual(['at foo (a.js:1:2)\nat bar (b.js:3:4)']);
  });

  it('counts messages that differ by a few words as one kind', () => {
    const tracker = new ErrorTracker({ showStackTrace: false, showErrorCode: false, showErrorName: false });
    for (const page of ['1', '2', '3']) tracker.add(thrown(`Failed on page ${page} of site`));
    for (const message of ['one a', 'two a', 'no common words', 'quite another thing']) tracker.add(thrown(message));
    expect(tracker.getMostPopularErrors(1)).toEqual([[3, ['Failed on page _ of site']]]);
    expect(tracker.getUniqueErrorCount()).toBe(5);
    expect(Object.keys(tracker.result)).toContain('Failed on page _ of site');
    expect(Object.keys(tracker.result)).not.toContain('Failed on page 1 of site');
  });

  it('aligns messages of different length by the words that they share', () => {
    const tracker = new ErrorTracker({ showStackTrace: false, showErrorCode: false, showErrorName: false });
    tracker.add(thrown('waiting for a button failed: it is hidden'));
    tracker.add(thrown('waiting for a very small button failed: it is disabled'));
    tracker.add(thrown('waiting for an image failed: it is still not there'));
    expect(tracker.getMostPopularErrors(2)).toEqual([[3, ['waiting for _ failed: it is _']]]);
  });

  it('names the place in a file of the user, not in Node or in a package', () => {
    const tracker = new ErrorTracker({ showErrorCode: false, showErrorName: false });
    const lines = [
      'at read (node:fs:1:2)',
      'at use (/app/node_modules/x/i.js:3:4)',
      'eval at go (eval at own (mine.js:5:6))',
    ];
    tracker.add(thrown('a', { stack: `Error: a\n    ${lines.join('\n    ')}` }));
    expect(Object.keys(tracker.result)).toEqual(['mine.js:5:6']);
    const inside = new ErrorTracker({ showErrorCode: false, showErrorName: false });
    inside.add(thrown('a', { stack: `Error: a\n    ${lines[0]!}` }));
    expect(Object.keys(inside.result)).toEqual(['node:fs:1:2']);
  });

  it('counts what caused an error too, without following a circle', () => {
    const tracker = new ErrorTracker();
    const error = thrown('outer', { cause: thrown('inner') });
    tracker.add(error);
    expect([tracker.total, tracker.getUniqueErrorCount()]).toEqual([2, 2]);
    error.cause = error;
    tracker.add(error);
    expect(tracker.total).toBeLessThan(20);
  });

  it('saves the page of the first error of a kind', async () => {
    const store = await openStore();
    const tracker = new ErrorTracker({ saveErrorSnapshots: true, showStackTrace: false, showErrorCode: false });
    const context = { body: '<p>first</p>', getKeyValueStore: async () => store };
    await tracker.addAsync(thrown('Boom'), context);
    await tracker.addAsync(thrown('Boom'), { ...context, body: '<p>second</p>' });
    const name = new ErrorSnapshotter().generateFilename(thrown('Boom'));
    expect(tracker.result).toEqual({
      Error: { Boom: { count: 2, firstErrorHtmlUrl: store.getPublicUrl(`${name}.html`) } },
    });
    expect(await store.getValue(name)).toBe('<p>first</p>');
  });
});

describe('ErrorSnapshotter', () => {
  it('names a snapshot by the place and the beginning of the message', () => {
    const name = new ErrorSnapshotter().generateFilename(thrown('Hello world, this is: a long message/with more'));
    expect(name).toMatch(/^ERROR_SNAPSHOT_[0-9a-f]{30}_Hello-world-this-is-a-long-m$/);
    expect(new ErrorSnapshotter().generateFilename({ message: '' })).toMatch(
      /^ERROR_SNAPSHOT_da39a3.{24}_An-error-occurred$/,
    );
  });

  it('asks the browser first and never throws', async () => {
    const keys: string[] = [];
    const saveSnapshot = async ({ key }: { key: string }) => void keys.push(key);
    const taken = await new ErrorSnapshotter().captureSnapshot(thrown('Boom'), { saveSnapshot });
    expect(taken).toEqual({ screenshotFileName: `${keys[0]}.jpg`, htmlFileName: `${keys[0]}.html` });
    const getKeyValueStore = async () => {
      throw new Error('no store');
    };
    expect(await new ErrorSnapshotter().captureSnapshot(thrown('Boom'), { getKeyValueStore })).toEqual({});
  });
});

describe('ByteCounterStream', () => {
  it('lets everything through and says how much it was', async () => {
    const counts: number[] = [];
    const counter = ByteCounterStream({ logTransferredBytes: (bytes) => counts.push(bytes), loggingInterval: 0 });
    const seen: Buffer[] = [];
    await pipeline(
      Readable.from([Buffer.from('abc'), Buffer.from('de')]),
      counter,
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) seen.push(chunk);
      },
    );
    expect([Buffer.concat(seen).toString(), counts]).toEqual(['abcde', [3, 5]]);
  });
});
