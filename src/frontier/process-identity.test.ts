import { afterEach, describe, expect, it } from 'vitest';
import { identifyProcess, lifeOf, openTokens } from './process-identity.js';

const BOOT = 'boot';
const identity = identifyProcess(BOOT, 'token of this test');

describe('the life of a process', () => {
  afterEach(() => openTokens().delete(identity.token));

  it('is this process only while it has the queue open', () => {
    expect(lifeOf(identity, BOOT)).toBe('dead');
    openTokens().add(identity.token);
    expect(lifeOf(identity, BOOT)).toBe('alive');
  });

  it('is not fooled by a pid that is used again', () => {
    const parent = { ...identity, pid: process.ppid, started: '1', token: 'other' };
    expect(lifeOf(parent, BOOT)).toBe(identity.started === '' ? 'alive' : 'dead');
    expect(lifeOf({ ...parent, started: '' }, BOOT)).toBe('alive');
  });

  it('is over for a pid that nobody has, and after another boot of this machine', () => {
    expect(lifeOf({ ...identity, pid: 2 ** 22 + 1, token: 'other' }, BOOT)).toBe('dead');
    openTokens().add(identity.token);
    expect(lifeOf(identity, 'next boot')).toBe('dead');
  });

  it('is unknown on another machine, in another container and in another thread', () => {
    expect(lifeOf({ ...identity, host: 'elsewhere' }, 'next boot')).toBe('unknown');
    expect(lifeOf({ ...identity, pidSpace: 'pid:[1]' }, BOOT)).toBe('unknown');
    expect(lifeOf({ ...identity, thread: identity.thread + 1 }, BOOT)).toBe('unknown');
  });
});
