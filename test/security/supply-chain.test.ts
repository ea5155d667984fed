// The check of what we ship of others: it finds what it should in lockfiles made for it, and nothing in ours.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Check {
  problemsOf(lock: object): string[];
  isAllowed(licence: unknown): boolean;
}
const script = new URL('../../scripts/check-supply-chain.mjs', import.meta.url).href;
const { problemsOf, isAllowed } = (await import(script)) as Check;

const good = {
  version: '1.0.0',
  license: 'MIT',
  resolved: 'https://registry.npmjs.org/good/-/good-1.0.0.tgz',
  integrity: 'sha512-x',
};
const lockOf = (entry: object, path = 'node_modules/odd') => ({ packages: { '': {}, [path]: { ...good, ...entry } } });

describe('the supply chain', () => {
  it('of our own lockfile is known', () => {
    const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as object;
    expect(problemsOf(lock)).toEqual([]);
  });

  it.each([
    ['an install script', { hasInstallScript: true }, /runs a script/],
    ['an install script of a tool', { hasInstallScript: true, dev: true }, /runs a script/],
    ['a licence that is not on the list', { license: 'GPL-3.0' }, /licence GPL-3\.0/],
    ['no licence', { license: undefined }, /licence \(none\)/],
    ['another source', { resolved: 'https://evil.test/odd.tgz' }, /comes from https:\/\/evil\.test/],
    ['a source in git', { resolved: 'git+ssh://git@github.com/a/b.git#1' }, /comes from git/],
    ['no checksum', { integrity: undefined }, /no checksum/],
  ])('with %s is refused', (_what, entry, problem) => {
    expect(problemsOf(lockOf(entry))).toEqual([expect.stringMatching(problem)]);
  });

  it('tells packages apart by their whole name', () => {
    expect(problemsOf(lockOf({ hasInstallScript: true }, 'node_modules/lmdb'))).toEqual([]);
    expect(problemsOf(lockOf({ hasInstallScript: true }, 'node_modules/a/node_modules/lmdb'))).toEqual([]);
    expect(problemsOf(lockOf({ hasInstallScript: true }, 'node_modules/@evil/lmdb'))).toHaveLength(1);
    expect(problemsOf(lockOf({ hasInstallScript: true, name: 'evil' }, 'node_modules/lmdb'))).toHaveLength(1);
  });

  it('reads expressions of licences', () => {
    for (const licence of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC']) expect(isAllowed(licence)).toBe(true);
    for (const licence of ['MIT AND GPL-3.0', 'SEE LICENSE IN X', '', undefined, '(MIT) AND (GPL)']) {
      expect(isAllowed(licence)).toBe(false);
    }
  });
});
