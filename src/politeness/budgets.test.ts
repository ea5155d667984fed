import { describe, expect, it } from 'vitest';
import { createBudgets } from './budgets.js';

describe('budgets', () => {
  it('end at the limit of a host and of its domain', () => {
    const budgets = createBudgets({ maxPerHost: 2, maxPerDomain: 3 });
    const take = (host: string) => budgets.take(`https://${host}/page`);
    expect(['a.example.com', 'a.example.com:8080', 'a.example.com'].map(take)).toEqual([
      undefined,
      undefined,
      'BUDGET_HOST',
    ]);
    expect(['b.example.com', 'b.example.com', 'example.org'].map(take)).toEqual([
      undefined,
      'BUDGET_DOMAIN',
      undefined,
    ]);
  });

  it('take nothing when they refuse, and can be given back', () => {
    const budgets = createBudgets({ maxPerHost: 1 });
    expect(budgets.take('https://a.example/1')).toBeUndefined();
    expect(budgets.take('https://a.example/2')).toBe('BUDGET_HOST');
    budgets.giveBack('https://a.example/1');
    expect(budgets.take('https://a.example/2')).toBeUndefined();
  });

  it('take a domain’s own limit from its overrides', () => {
    const budgets = createBudgets({ maxPerDomain: 1 });
    const own = { maxPages: 2, budgetDomain: 'example.com' };
    const taken = ['a', 'b', 'c'].map((name) => budgets.take(`https://${name}.example.com/`, own));
    expect(taken).toEqual([undefined, undefined, 'BUDGET_DOMAIN']);
    expect(budgets.take('https://example.net/', { maxPages: 0 })).toBe('BUDGET_DOMAIN');
  });

  it('are never exceeded, however many hosts there are', () => {
    const budgets = createBudgets({ maxPerHost: 3, maxTracked: 10 });
    const taken = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      for (let host = 0; host < 500; host++) {
        const url = `https://h${host}.example/`;
        if (budgets.take(url) === undefined) taken.set(url, (taken.get(url) ?? 0) + 1);
      }
    }
    expect(Math.max(...taken.values())).toBe(3);
    // The sketch may end some early; with 500 names in 65,536 columns hardly any.
    expect([...taken.values()].filter((count) => count === 3).length).toBeGreaterThan(490);
  });
});
