import { afterEach, describe, expect, it } from 'vitest';
import { identifyProcess, lifeOf, openTokens } from './process-identity.js';

const BOOT = 'boot';
const identity = identifyProcess(BOOT, 'token of this test');

describe('the life of a process', () => {
  afterEach(() => openTokens().delete(identity.token));

  it('is this process only while it has the queue open', () => {
    expect(lifeOf(identity, BOOT, 'machine')).toBe('dead');
    openTokens().add(identity.token);
    expect(lifeOf(identity, BOOT, 'machine')).toBe('alive');
  });

  it('is not fooled by a pid that is used again', () => {
    const parent = { ...identity, pid: process.ppid, started: '1', token: 'other' };
    expect(lifeOf(parent, BOOT, 'machine')).toBe(identity.started === '' ? 'alive' : 'dead');
    expect(lifeOf({ ...parent, started: '' }, BOOT, 'machine')).toBe('alive');
  });

  it('is over for a pid that nobody has, and after another boot of this machine', () => {
    expect(lifeOf({ ...identity, pid: 2 ** 22 + 1, token: 'other' }, BOOT, 'machine')).toBe('dead');
    openTokens().add(identity.token);
    expect(lifeOf(identity, 'next boot', 'machine')).toBe('dead');
  });

  it('is unknown on another machine, in another container and in another thread', () => {
    expect(lifeOf({ ...identity, host: 'elsewhere' }, 'next boot', 'machine')).toBe('unknown');
    expect(lifeOf({ ...identity, pidSpace: 'pid:[1]' }, BOOT, 'machine')).toBe('unknown');
    expect(lifeOf({ ...identity, thread: identity.thread + 1 }, BOOT, 'machine')).toBe('unknown');
  });

  it('is unknown over a network after another boot, whatever the host name, and where boots have no name', () => {
    expect(lifeOf(identity, 'next boot', 'network')).toBe('unknown');
    expect(lifeOf({ ...identity, bootId: '', token: 'other' }, '', 'network')).toBe('unknown');
    expect(lifeOf({ ...identity, pid: 2 ** 22 + 1, token: 'other' }, BOOT, 'network')).toBe('dead');
  });
});
