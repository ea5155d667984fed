import { expect, it } from 'vitest';
import { isAdHost } from './ads.js';

it('knows hosts of advertisements and their subdomains, and no other', () => {
  expect(['doubleclick.net', 'a.b.doubleclick.net', 'connect.facebook.net'].map(isAdHost)).toEqual([true, true, true]);
  expect(['notdoubleclick.net', 'facebook.net', 'net', '', 'localhost', '127.0.0.1'].map(isAdHost)).toEqual(
    Array.from({ length: 6 }, () => false),
  );
});
