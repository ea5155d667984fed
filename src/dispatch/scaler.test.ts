// Unit tests of the rules that widen and narrow the pool.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScaler } from './scaler.js';
import type { LoadStatus } from './system-load.js';

const signal = { isOverloaded: false, limitRatio: 0.5, actualRatio: 0 };
const idle: LoadStatus = { isOverloaded: false, cpu: signal, memory: signal, eventLoop: signal };
const overloaded: LoadStatus = { ...idle, isOverloaded: true };
const OPTIONS = {
  minConcurrency: 1,
  maxConcurrency: 200,
  desiredConcurrency: 10,
  desiredConcurrencyRatio: 0.9,
  scaleUpStepRatio: 0.05,
  scaleDownStepRatio: 0.05,
  slowStart: false,
};

describe('scaler', () => {
  it('grows by a step, at least one, when the pool was 90 % used and nothing is overloaded', () => {
    const small = createScaler(OPTIONS);
    small.step(idle, 9);
    expect(small.desired).toBe(11);
    const wide = createScaler({ ...OPTIONS, desiredConcurrency: 100 });
    wide.step(idle, 90);
    expect(wide.desired).toBe(105);
  });

  it('stays when the pool was not used', () => {
    const scaler = createScaler(OPTIONS);
    scaler.step(idle, 8.9);
    expect(scaler.desired).toBe(10);
    const one = createScaler({ ...OPTIONS, desiredConcurrency: 1 });
    one.step(idle, 0);
    expect(one.desired).toBe(1);
  });

  it('shrinks by a step when anything is overloaded, used or not', () => {
    const scaler = createScaler({ ...OPTIONS, desiredConcurrency: 100 });
    scaler.step(overloaded, 0);
    expect(scaler.desired).toBe(95);
    scaler.step(overloaded, 95);
    expect(scaler.desired).toBe(90);
  });

  it('doubles in the slow start until its maximum', () => {
    const scaler = createScaler({ ...OPTIONS, slowStart: true });
    const widths = Array.from({ length: 6 }, () => {
      scaler.slowStep(idle, scaler.desired);
      return scaler.desired;
    });
    expect(widths).toEqual([20, 40, 80, 160, 200, 200]);
    expect(scaler.slowStep(idle, 200)).toBe(false);
  });

  it('waits in the slow start while the pool is not used, and then goes on', () => {
    const scaler = createScaler({ ...OPTIONS, slowStart: true });
    expect(scaler.slowStep(idle, 3)).toBe(true);
    expect(scaler.desired).toBe(10);
    scaler.slowStep(idle, 10);
    expect(scaler.desired).toBe(20);
  });

  it('ends the slow start for good at the first overload', () => {
    const scaler = createScaler({ ...OPTIONS, slowStart: true });
    expect(scaler.slowStep(overloaded, 10)).toBe(false);
    expect(scaler.slowStep(idle, 10)).toBe(false);
    expect(scaler.desired).toBe(10);
  });

  it('never leaves its bounds, whatever happens', () => {
    const event = fc.record({
      load: fc.constantFrom(idle, overloaded),
      used: fc.integer({ min: 0, max: 300 }),
      what: fc.constantFrom('step', 'slow', 'min', 'max', 'desired'),
      to: fc.integer({ min: 1, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const scaler = createScaler({ ...OPTIONS, slowStart: true });
        for (const { load, used, what, to } of events) {
          if (what === 'step') scaler.step(load, used);
          else if (what === 'slow') scaler.slowStep(load, used);
          else scaler[what as 'min' | 'max' | 'desired'] = to;
          expect(scaler.min).toBeLessThanOrEqual(scaler.desired);
          expect(scaler.desired).toBeLessThanOrEqual(scaler.max);
        }
      }),
    );
  });
});
