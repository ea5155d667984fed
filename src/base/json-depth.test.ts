import { expect, it } from 'vitest';
import { nestsDeeperThan } from './json-depth.js';

it('counts brackets outside of strings', () => {
  expect(nestsDeeperThan('[[1]]', 2)).toBe(false);
  expect(nestsDeeperThan('[[[1]]]', 2)).toBe(true);
  expect(nestsDeeperThan('[{"a":[1]}]', 2)).toBe(true);
  expect(nestsDeeperThan('["[[[[", "\\"[[["]', 1)).toBe(false);
  expect(nestsDeeperThan('[1],[2],[3]', 1)).toBe(false);
});
