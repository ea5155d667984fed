import { describe, expect, it } from 'vitest';
import { createEnough } from './enough.js';
import { createQuery } from './query.js';
import { depthScorer, freshnessScorer, keywordScorer, priorityOf, scorerOf } from './scorers.js';

const link = (url: string, text = '', relevance = 0) => ({
  url,
  text,
  depth: 1,
  page: { url: 'http://a/', relevance },
});

describe('a query', () => {
  it('keeps the words that say something, without the plural', () => {
    const query = createQuery('How do the espresso grinders work?');
    expect(query.words).toEqual(['espresso', 'grinders', 'work']);
    expect(query.share('Working with a GRINDER for espresso')).toBe(1);
    expect(query.share('an espressomaker for regrinders')).toBe(0);
  });

  it('finds words of scripts without spaces anywhere', () => {
    expect(createQuery('東京').share('日本の東京都')).toBe(1);
  });

  it('tells apart words that begin alike, and words of regular expressions are only words', () => {
    const query = createQuery('car carpet a+b(c');
    expect([...query.count('a carpet').keys()]).toEqual([query.words.indexOf('carpet')]);
    expect(query.share('(((')).toBe(0);
  });

  it('takes a page that repeats the words, or has them in its title, for more relevant', () => {
    const query = createQuery('espresso');
    expect(query.relevance('', 'tea')).toBe(0);
    expect(query.relevance('', 'espresso')).toBeLessThan(query.relevance('', 'espresso espresso'));
    expect(query.relevance('espresso', '')).toBeGreaterThan(0.5);
  });
});

describe('scorers', () => {
  const keywords = keywordScorer(createQuery('espresso grinder'));

  it('score the text, the path and the page of a link', () => {
    expect(keywords(link('http://a/x', 'Espresso grinder'))).toBe(1);
    expect(keywords(link('http://a/espresso-grinder.html'))).toBe(1);
    expect(keywords(link('http://a/%65spresso'))).toBe(0.5);
    expect(keywords(link('http://espresso.example/x'))).toBe(0);
    expect(keywords(link('http://a/x', '', 1))).toBeGreaterThan(0.12);
  });

  it('put deep paths and old dates below what is unknown', () => {
    expect(depthScorer(link('http://a/'))).toBeGreaterThan(depthScorer(link('http://a/b/c')));
    expect(depthScorer(link('http://a/b/c/d/e'))).toBeLessThan(0);
    const fresh = freshnessScorer(() => Date.UTC(2026, 0, 15));
    expect(fresh(link('http://a/2026/01/10/news'))).toBeGreaterThan(0.9);
    expect(fresh(link('http://a/2010-05-01'))).toBeLessThan(-0.9);
    expect(fresh(link('http://a/v2026'))).toBe(0);
  });

  it('are weighted, and what a function returns is kept within bounds', () => {
    const nowMs = () => 0;
    const both = scorerOf({ depth: 1, custom: () => 7 }, undefined, nowMs);
    expect(both(link('http://a/b/c'))).toBeCloseTo(0.5);
    expect(scorerOf({ custom: () => Number.NaN }, undefined, nowMs)(link('http://a/'))).toBe(0);
    expect([1, 0.5, 0.2, 0, -0.2, -1].map(priorityOf)).toEqual([2, 2, 1, 0, -1, -2]);
  });
});

describe('enough', () => {
  const enoughOf = () => createEnough(createQuery('espresso grinder'), { window: 5, gain: 0.01, coverage: 0.6 });
  const page = (name: string) => `The espresso grinder of ${name}. It grinds espresso. The espresso grinder, again.`;

  it('comes when pages about the query repeat what others said', () => {
    const enough = enoughOf();
    const answers = Array.from({ length: 20 }, () => enough.see('espresso', page('Rome')));
    expect(answers.indexOf(true)).toBe(5);
    expect(enough.figures).toMatchObject({ relevant: 20, coverage: 1 });
  });

  it('does not come while they say something new, and comes when no more of them are found', () => {
    const enough = enoughOf();
    for (let i = 0; i < 50; i++) expect(enough.see('espresso', page(`number${i}`))).toBe(false);
    const answers = Array.from({ length: 5 }, () => enough.see('tea', 'All about tea'));
    expect(answers).toEqual([false, false, false, false, true]);
  });

  it('never comes when nothing was found', () => {
    const enough = enoughOf();
    for (let i = 0; i < 100; i++) expect(enough.see('tea', 'All about tea')).toBe(false);
  });
});
