import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readConfigText } from './file.js';
import { idleKeys, KEY_TEXTS, plainDefault } from './key-reference.js';
import { camelCase, FILE_KEYS, type FileKey, SETTING_DEFAULTS } from './keys.js';
import { referencePage } from './reference-page.js';
import { starterFile } from './starter-file.js';
import type { PodsConfig } from './types.js';

const KEYS = Object.keys(FILE_KEYS) as FileKey[];

describe('the reference of all keys', () => {
  it('is the page in docs: npm run docs:keys writes it', async () => {
    expect(await readFile('docs/pods-keys.md', 'utf8')).toBe(referencePage());
  });

  it('names every key once, with the default that a run uses', () => {
    const page = referencePage();
    for (const key of KEYS) expect(page.split(`| \`${key}\` |`)).toHaveLength(2);
    expect(page).toContain('| `politeness_delay_seconds` | a number from 0 | `70` |');
    for (const key of KEYS) {
      const value = plainDefault(key);
      if (value !== undefined) {
        expect(value).toBe(SETTING_DEFAULTS[camelCase(key) as keyof typeof SETTING_DEFAULTS]);
        expect(FILE_KEYS[key].accepts(value)).toBe(true);
      } else expect(KEY_TEXTS[key].usually, key).toBeDefined();
    }
  });
});

describe.each(['test', 'production'] as const)('a file for %s', (profile) => {
  it.each([1, 2, 16])(
    'with %i pods has every key once, and is valid as it is and with all lines uncommented',
    async (pods) => {
      const file = starterFile({ pods, profile, email: 'you@example.com', seedFile: 'seeds.txt' });
      for (const key of KEYS) {
        expect(file.match(new RegExp(`^(?:# )?${key}:`, 'gm')), key).toHaveLength(1);
      }
      const uncommented = file.replace(new RegExp(`^# (${KEYS.join('|')}):`, 'gm'), '$1:');
      expect(uncommented).not.toBe(file);
      for (const text of [file, uncommented]) {
        const problems: string[] = [];
        const read = await readConfigText(text, 'crawl.yaml', problems);
        expect(problems).toEqual([]);
        expect(read?.values.pods).toHaveLength(pods);
      }
      for (const line of file.split('\n')) expect(line.length).toBeLessThanOrEqual(130);
    },
  );
});

describe('keys without effect', () => {
  const base = {
    ...SETTING_DEFAULTS,
    pods: [{ kind: 'redis', redisUrl: 'redis://a:1/0', where: 'redis://a:1/0' }],
  } as unknown as PodsConfig;

  it('are told with the reason, if they were given', () => {
    const givenKeys: FileKey[] = ['bloom_filter_capacity', 'parser_workers', 'max_pages', 'prometheus_port'];
    expect(idleKeys({ ...base, givenKeys, enablePrometheus: false })).toEqual([
      'bloom_filter_capacity has no effect: dedup is exact',
      'parser_workers has no effect: parsers_per_pod is 0',
      'prometheus_port has no effect: enable_prometheus is false',
    ]);
    expect(idleKeys({ ...base, givenKeys: ['bloom_filter_capacity'], dedup: 'bloom' })).toEqual([]);
    const embedded = { ...base, pods: [{ kind: 'embedded', path: '/x' }] } as unknown as PodsConfig;
    expect(idleKeys({ ...embedded, givenKeys: ['dedup', 'redis_db'] })).toEqual([
      'dedup has no effect: the pods are embedded',
      'redis_db has no effect: the pods are embedded',
    ]);
  });
});
