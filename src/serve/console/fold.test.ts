import { describe, expect, it } from 'vitest';
import { joinRow, rowText } from '../jobs/rows.js';
import type { Outcome } from '../jobs/store.js';
import { createFold } from './fold.js';

function outcome(number: number): Outcome {
  const url = `http://host-${number % 10}.example/${number}`;
  const key = String(number);
  const facts = { status: number % 5 === 0 ? 404 : 200, bytes: 1_000, ms: 100, type: 'text/html; charset=utf-8' };
  if (number % 4 !== 3) return { kind: 'document', key, url, facts, document: '{}' };
  return { kind: 'error', key, error: { id: key, timestamp: '', url, code: 'FETCH_TIMEOUT', error: 'no reply' } };
}

describe('what the rows of a job add up to', () => {
  it('counts each row once, however often and in whatever pieces it follows', async () => {
    const rows: string[] = [];
    const store = { rows: { read: async (_id: string, from: number, max: number) => rows.slice(from, from + max) } };
    const fold = createFold(store, 'job');
    for (let number = 0; number < 10_000; number++) {
      rows.push(joinRow(number, rowText(outcome(number), 1_000 + number)));
      if (number % 1_777 === 0) await Promise.all([fold.follow(), fold.follow()]);
    }
    await fold.follow();
    const view = fold.view();
    expect(view.rows).toBe(10_000);
    expect(Object.values(view.statuses).reduce((sum, count) => sum + count, 0)).toBe(7_500);
    expect(view.errors).toMatchObject([{ code: 'FETCH_TIMEOUT', count: 2_500 }]);
    expect(view.errors[0]!.examples).toHaveLength(3);
    expect(view.types).toEqual({ 'text/html': 7_500 });
    expect(view.domains).toBe(10);
    expect(view.bytes).toBe(7_500_000);
    expect(view.p50).toBeGreaterThan(85);
    expect(view.p50).toBeLessThan(115);
    expect(fold.domains('host', 'host-3')).toMatchObject([{ host: 'host-3.example' }]);
    expect(fold.domains('failed', '')[0]!.failed).toBeGreaterThanOrEqual(fold.domains('failed', '')[1]!.failed);
  });
});
