import { describe, expect, it } from 'vitest';
import { scriptOf } from './scripts.js';
import { STATE_NUMBERS, unpackStateNumbers } from './state-numbers.js';

describe('the numbers of a store', () => {
  it('are read in the order in which the scripts read and write them', () => {
    const { source } = scriptOf('reading');
    const load = source.slice(source.indexOf('local function load()'), source.indexOf('local function save()'));
    const read = load.slice(load.indexOf('hot.accepted'), load.indexOf('= unpackNumbers(NUMBERS'));
    const written = source.slice(source.indexOf('pack(NUMBERS, '));
    const namesIn = (text: string): string[] => [...text.matchAll(/hot\.(\w+)/g)].map(([, name]) => name!);
    expect(namesIn(read)).toEqual([...STATE_NUMBERS]);
    expect(namesIn(written.slice(0, written.indexOf('))')))).toEqual([...STATE_NUMBERS]);
    expect(source).toContain(`NUMBERS_COUNT = ${STATE_NUMBERS.length}\n`);
  });

  it('are 0 where the store has none yet', () => {
    const two = Buffer.alloc(16);
    two.writeDoubleLE(7, 0);
    two.writeDoubleLE(5, 8);
    expect(unpackStateNumbers(two)).toMatchObject({ accepted: 7, queued: 5, retrying: 0, offered: 0 });
    expect(unpackStateNumbers(null)).toMatchObject({ accepted: 0, epoch: 0 });
  });
});
