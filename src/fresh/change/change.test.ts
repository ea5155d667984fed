import { describe, expect, it } from 'vitest';
import { fieldDiff } from './json-diff.js';
import { normaliseContent } from './normalise.js';

describe('normalised content', () => {
  const article = 'Orcas hunt in pods.\nEach pod has its own calls.';
  it.each([
    ['a date of its own', `${article}\nMonday, 16 November 2026 13:45 GMT`],
    ['a clock', `Updated: 13:45\n${article}`],
    ['how long ago', `Posted 5 minutes ago\n${article}`],
    ['a counter', `1,234 views\n${article}\n12 comments`],
    ['white space and invisible characters', ` Orcas\u00a0hunt  in\u200b pods.\n\n\n${article.split('\n')[1]} `],
  ])('is the same whatever %s says', (_what, text) => {
    expect(normaliseContent(text)).toBe(article);
  });

  it.each([
    'Zuletzt aktualisiert am 3. März 2026, 14:05 Uhr',
    'Publié le 5 mars 2026 à 10:30',
    'Обновлено 16 ноября 2026 г.',
    '更新时间：2026年11月16日 14:05',
    '2026年3月5日',
    '16.11.2026',
    '05/03/24',
    '13:45',
    'vor 12 Minuten',
    '5 минут назад',
    'hace 3 días',
    '3時間前',
    '1.234 Mal gelesen',
    'Просмотров: 12 345',
    '阅读(1234)',
    '閲覧数：1,234',
    '1 234 vues',
    '댓글 15개',
    '12,5 тыс. просмотров',
    'Page generated in 0.123 seconds',
  ])('leaves out %s', (line) => {
    expect(normaliseContent(`${article}\n${line}`)).toBe(article);
  });

  it.each(['Version 2.10.3', '2.10.3', '12 €', '15 %', '+49 30 1234567', '3 Zimmer', '第4章', 'Глава 4'])(
    'keeps %s, which no clock and no reader changes',
    (line) => {
      expect(normaliseContent(`${article}\n${line}`)).toBe(`${article}\n${line}`);
    },
  );

  it.each(['$ 12.50', '12.50', 'Price: 12.50 EUR', 'Sold out', 'May', 'In 1912 the ship sank', '3 rooms', 'Chapter 4'])(
    'keeps %s: it may be what is watched',
    (line) => {
      expect(normaliseContent(`${article}\n${line}`)).toBe(`${article}\n${line}`);
    },
  );

  it('tells a changed word', () => {
    expect(normaliseContent(article.replace('own', 'odd'))).not.toBe(normaliseContent(article));
  });
});

describe('a difference of fields', () => {
  it('names what changed, by path', () => {
    const before = { name: 'a', price: 3, seller: { name: 'x', stars: 4 }, tags: [1] };
    const now = { name: 'a', price: 4, seller: { name: 'y', stars: 4 }, tags: [1, 2], isNew: true };
    expect(fieldDiff(before, now)).toEqual({
      price: { previous: 3, current: 4 },
      'seller.name': { previous: 'x', current: 'y' },
      tags: { previous: [1], current: [1, 2] },
      isNew: { previous: null, current: true },
    });
    expect(fieldDiff(before, structuredClone(before))).toEqual({});
    expect(fieldDiff(undefined, { a: 1 })).toEqual({ a: { previous: null, current: 1 } });
  });

  it('is not fooled by names', () => {
    const changes = fieldDiff({}, JSON.parse('{"__proto__": 1}'));
    expect(Object.keys(changes)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).previous).toBeUndefined();
  });
});
