// Settings without files: the constructor, set, the environment's spelling, and what is refused.
import { afterEach, describe, expect, it } from 'vitest';
import { Configuration } from './configuration.js';
import { CONFIGURATION_SHAPE, ENVIRONMENT_NAMES } from './configuration-options.js';
import type { ConfigurationKey } from './configuration-options.js';

afterEach(() => {
  for (const name of Object.keys(process.env)) if (/^(?:ORCRAWL|CRAWLEE)_/.test(name)) delete process.env[name];
  Configuration.resetGlobalState();
});

describe('Configuration', () => {
  it('has one global object until it is reset', () => {
    const config = Configuration.getGlobalConfig();
    expect(Configuration.getGlobalConfig()).toBe(config);
    Configuration.set('inputKey', 'X');
    expect(config.get('inputKey')).toBe('X');
    Configuration.resetGlobalState();
    expect(Configuration.getGlobalConfig().get('inputKey')).toBe('INPUT');
  });

  it('lets a default given to get stand before the built-in one only', () => {
    const config = new Configuration({ memoryMbytes: 100 });
    expect(config.get('memoryMbytes', 7)).toBe(100);
    expect(config.get('availableMemoryRatio', 0.5)).toBe(0.5);
    expect(config.get('xvfb')).toBeUndefined();
    config.set('memoryMbytes');
    expect(config.get('memoryMbytes', 7)).toBe(7);
  });

  it.each([
    ['persistStorage', 'PERSIST_STORAGE', '0', false],
    ['persistStorage', 'PERSIST_STORAGE', 'FALSE', false],
    ['persistStorage', 'PERSIST_STORAGE', '', false],
    ['persistStorage', 'PERSIST_STORAGE', '1', true],
    ['purgeOnStart', 'PURGE_ON_START', 'false', false],
    ['purgeOnStart', 'PURGE_ON_START', 'true', true],
    ['purgeOnStart', 'PURGE_ON_START', 'finished', 'finished'],
    ['memoryMbytes', 'MEMORY_MBYTES', '512', 512],
    ['memoryMbytes', 'MEMORY_MBYTES', '', undefined],
    ['logLevel', 'LOG_LEVEL', 'debug', 'DEBUG'],
    ['logLevel', 'LOG_LEVEL', 'warn', 'WARNING'],
    ['logLevel', 'LOG_LEVEL', '5', 5],
    ['logFormat', 'LOG_FORMAT', 'json', 'JSON'],
    ['redisUrl', 'REDIS_URL', 'redis://localhost', 'redis://localhost'],
    ['defaultBrowserPath', 'DEFAULT_BROWSER_PATH', '/b', '/b'],
  ] as const)('reads %s from …_%s=%s', (key, name, text, value) => {
    const config = new Configuration();
    process.env[`CRAWLEE_${name}`] = text;
    expect(config.get(key)).toBe(value);
    process.env[`CRAWLEE_${name}`] = 'nonsense that the other name hides';
    process.env[`ORCRAWL_${name}`] = text;
    expect(config.get(key)).toBe(value);
  });

  it.each([
    ['MEMORY_MBYTES', 'abc', 'memoryMbytes'],
    ['LOG_LEVEL', 'loud', 'logLevel'],
    ['AVAILABLE_MEMORY_RATIO', '2', 'availableMemoryRatio'],
    ['PERSIST_STATE_INTERVAL_MILLIS', '0', 'persistStateIntervalMillis'],
  ] as const)('names the variable when %s=%s', (name, text, key) => {
    process.env[`CRAWLEE_${name}`] = text;
    expect(() => new Configuration().get(key)).toThrow(`CRAWLEE_${name} must be`);
  });

  it('does not repeat the password of a Redis URL it refuses', () => {
    process.env.ORCRAWL_REDIS_URL = 'http://:secret@host';
    expect(() => new Configuration().get('redisUrl')).toThrow(/^(?!.*secret).*ORCRAWL_REDIS_URL/);
  });

  it('takes persistStorage also from storageClientOptions, where the setting itself wins', () => {
    const storageClientOptions = { persistStorage: false };
    expect(new Configuration({ storageClientOptions }).get('persistStorage')).toBe(false);
    expect(new Configuration({ storageClientOptions, persistStorage: true }).get('persistStorage')).toBe(true);
  });

  it('refuses unknown names and wrong types', () => {
    expect(() => new Configuration({ persistStorrage: true } as never)).toThrow('did you mean "persistStorage"?');
    expect(() => new Configuration({ purgeOnStart: 'always' as never })).toThrow('"purgeOnStart" must be one of');
    expect(() => new Configuration({ storageClient: {} } as never)).toThrow(
      /docs\/from-crawlee\.md.*openFrontier\(\), segments\(\), records\(\)/,
    );
    expect(() => new Configuration({ storageClientOptions: { folder: 'x' } as never })).toThrow('localDataDirectory');
    expect(() => new Configuration().set('memoryMbytes', 'x' as never)).toThrow('"memoryMbytes" must be');
  });

  it('has a variable for every setting that text can hold', () => {
    const checked = (Object.keys(CONFIGURATION_SHAPE) as ConfigurationKey[]).filter(
      (key) => 'accepts' in CONFIGURATION_SHAPE[key],
    );
    expect(checked.filter((key) => ENVIRONMENT_NAMES[key] === undefined)).toEqual([
      'storageClientOptions',
      'storageClient',
      'eventManager',
    ]);
  });
});
