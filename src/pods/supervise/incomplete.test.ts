import { describe, expect, it } from 'vitest';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import { rolledBack } from './incomplete.js';

const reading = (done: number) => ({ done }) as PodReading;

describe('pods that forgot pages after the end was decided', () => {
  it('are named with how many pages they forgot', () => {
    const [only, ...others] = rolledBack([70, 80, 70], [reading(70), reading(12), reading(71)]);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ pod: 1, code: 'QUEUE_ROLLED_BACK' });
    expect(only!.message).toContain('without 68 pages');
  });

  it('are not those that do not answer', () => {
    expect(rolledBack([70], [undefined])).toEqual([]);
  });
});
