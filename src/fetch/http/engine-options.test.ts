import { describe, expect, it } from 'vitest';
import type { HttpEngineOptions } from './engine-options.js';
import { resolveEngineOptions } from './engine-options.js';

describe('resolveEngineOptions', () => {
  it('fills in defaults and freezes', () => {
    const options = resolveEngineOptions({});
    expect(options).toMatchObject({ allowPrivateAddresses: false, connectTimeoutMs: 10_000 });
    expect(Object.isFrozen(options)).toBe(true);
  });

  it.each([
    [{ conectTimeoutMs: 5 }, /conectTimeoutMs.*connectTimeoutMs/],
    [{ maxConnections: 0 }, /maxConnections/],
    [{ maxConnections: '5' }, /maxConnections/],
    [{ hotIdleMs: Number.NaN }, /hotIdleMs/],
    [{ allowPrivateAddresses: '10.0.0.0/8' }, /allowPrivateAddresses/],
  ])('refuses %o by name', (options, message) => {
    expect(() => resolveEngineOptions(options as HttpEngineOptions)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }),
    );
  });
});
