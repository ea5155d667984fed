// What `config check` and the flags of pods tell: the metrics' address, memory of Bloom filters, folders of one flag.
import { expect, it } from 'vitest';
import type { PodsConfig } from '../../../pods/config/types.js';
import { folders } from '../../pods-flags.js';
import { dedupText, metricsText } from './config.js';

const config = (values: object): PodsConfig => values as unknown as PodsConfig;

it('names no port 0: the log names the one that was free', () => {
  const metrics = { enablePrometheus: true, prometheusHost: '127.0.0.1' };
  expect(metricsText(config({ ...metrics, prometheusPort: 0 }))).toBe(
    'http://127.0.0.1, on a free port that the log names',
  );
  expect(metricsText(config({ ...metrics, prometheusPort: 8001 }))).toBe('http://127.0.0.1:8001/metrics');
});

it('tells what Bloom filters will take', () => {
  const pods = [{ kind: 'redis' }, { kind: 'redis' }];
  const bloom = { dedup: 'bloom', pods, bloomFilterCapacity: 1e10, bloomFilterErrorRate: 0.001 };
  expect(dedupText(config(bloom))).toBe(
    'Bloom, 10,000,000,000 URLs at 0.1 %: up to 9.5 GB per Redis (19 GB in all), most of it early',
  );
  expect(dedupText(config({ ...bloom, dedup: 'exact' }))).toBe('exact');
});

it('takes folders repeated or separated by commas', () => {
  expect(folders('x,y')).toEqual(['x', 'y']);
  expect(folders('z', ['x', 'y'])).toEqual(['x', 'y', 'z']);
  expect(() => folders('x,')).toThrow('separated by commas');
});
