// Wrong options of the synthetic web are named before anything starts.
import { describe, expect, it } from 'vitest';
import { CrawlError } from '../../errors.js';
import type { SimwebOptions } from './knobs.js';
import { planSimweb } from './options.js';

const messageOf = (options: unknown): string => {
  try {
    planSimweb(options as SimwebOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(CrawlError);
    expect((error as CrawlError).code).toBe('OPTION_INVALID');
    return (error as CrawlError).message;
  }
  return 'no error';
};

describe('options of the synthetic web', () => {
  it.each([
    [{ hostz: 1 }, 'hostz'],
    [{ hosts: 0 }, 'hosts'],
    [{ hosts: 1.5 }, 'hosts'],
    [{ hosts: '3' }, 'hosts'],
    [{ addressing: 'ports', hosts: 5000 }, 'hosts'],
    [{ addressing: 'dns' }, 'addressing'],
    [{ hostName: 'same.test' }, 'hostName'],
    [{ pageBytes: [3000, 2000] }, 'pageBytes'],
    [{ pageBytes: [1, 2, 3] }, 'pageBytes'],
    [{ latencyMs: -1 }, 'latencyMs'],
    [{ crossHostLinks: 2 }, 'crossHostLinks'],
    [{ linkNoise: { umt: 1 } }, 'linkNoise.umt'],
    [{ statusMix: { missing: 0.7, failing: 0.7 } }, 'statusMix'],
    [{ rateLimit: { requests: 3 } }, 'rateLimit.windowMs'],
    [{ robots: { disallow: '/x' } }, 'robots.disallow'],
    [{ brokenHosts: { share: 0.1, faults: ['explode'] } }, 'brokenHosts.faults'],
    [{ overrides: { 4: { fault: 'hang' } } }, 'overrides.4'],
    [{ overrides: { 0: { fault: 'explode' } } }, 'overrides.0.fault'],
    [{ overrides: { 0: { pages: 3 } } }, 'overrides.0.pages'],
    [{ tls: { key: 'k' } }, 'tls'],
    [{ keepAlive: 'yes' }, 'keepAlive'],
    [null, 'options'],
  ])('refuses %j naming "%s"', (options, name) => {
    expect(messageOf(options)).toContain(`"${name}`);
  });

  it('fills in every default and freezes the result', () => {
    const plan = planSimweb({ latencyMs: [5, 10], overrides: { 0: { cookieWall: true } } });
    expect(plan).toMatchObject({
      seed: 1,
      hosts: 1,
      pagesPerHost: 100,
      pageBytes: [10_000, 30_000],
      compression: 'gzip',
    });
    expect(plan.everyHost.latencyMs).toEqual([5, 10]);
    expect(Object.isFrozen(plan)).toBe(true);
    expect(Object.values(plan)).not.toContain(undefined);
  });
});
