// Hash slots as Redis computes them, and how pods spread over the masters of a cluster.
import { describe, expect, it } from 'vitest';
import { podPrefix, SLOTS, slotOf } from './slots.js';

describe('slots', () => {
  it('are those of the cluster specification', () => {
    // `CLUSTER KEYSLOT` of redis-server 7.0.15.
    expect(slotOf('123456789')).toBe(0x31c3);
    expect(slotOf('foo')).toBe(12_182);
    expect(slotOf('{user1000}.following')).toBe(slotOf('user1000'));
    expect(slotOf('foo{}{bar}')).toBe(8_363);
    expect(slotOf('foo{bar}{zap}')).toBe(slotOf('bar'));
  });

  it('spread pods evenly over any number of equal masters', () => {
    for (let masters = 1; masters <= 6; masters++) {
      for (let pods = 1; pods <= 24; pods++) {
        const perMaster = new Array<number>(masters).fill(0);
        for (let pod = 0; pod < pods; pod++) {
          perMaster[Math.floor((slotOf(podPrefix('orcrawl', pod, pods)) * masters) / SLOTS)]!++;
        }
        const apart = Math.max(...perMaster) - Math.min(...perMaster);
        expect(apart, `${pods} pods on ${masters}`).toBeLessThanOrEqual(pods % masters === 0 ? 0 : 2);
      }
    }
  });

  it('give a pod of many its own slot in little time', () => {
    const prefixes = Array.from({ length: 256 }, (_, pod) => slotOf(podPrefix('orcrawl', pod, 256)));
    expect(new Set(prefixes).size).toBe(256);
  });
});
