import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolveRunConfig, mergedRunConfig, RUN_SHAPE } from './crawl/batch/run-config.js';
import { resolveOptions } from './crawl/options/options.js';
import { SHAPES } from './crawl/options/options-shapes.js';
import { readConfigText } from './pods/config/file.js';
import { FILE_KEYS } from './pods/config/keys.js';
import { SHARED_SETTINGS } from './setting-names.js';

const podsValues = async (text: string) => {
  const problems: string[] = [];
  const file = await readConfigText(text, 'crawl.yaml', problems);
  return { values: file?.values, problems };
};

describe('names of settings', () => {
  it('exist where the table says', () => {
    for (const { name, batch, pods } of SHARED_SETTINGS) {
      expect(Object.keys(SHAPES.cheerio)).toContain(name);
      if (batch !== undefined) expect(Object.keys(RUN_SHAPE)).toEqual(expect.arrayContaining([name, batch]));
      if (pods !== undefined) expect(Object.keys(FILE_KEYS)).toContain(pods);
    }
  });

  it('are listed in docs/settings.md', () => {
    const text = readFileSync(new URL('../docs/settings.md', import.meta.url), 'utf8');
    const cell = (name?: string) => (name === undefined ? '|' : `\`${name}\` |`);
    const rows = SHARED_SETTINGS.map(({ name, batch, pods }) => `| \`${name}\` | ${cell(batch)} ${cell(pods)}`);
    const table = text.split('\n').filter((line) => /^\| `/.test(line));
    expect(table.slice(0, rows.length)).toEqual(rows);
  });

  it('of crawlers are taken by batches, also for one URL', () => {
    const batch = resolveRunConfig({ maxRequestRetries: 4, respectRobotsTxtFile: true });
    expect(batch).toMatchObject({ maxRetries: 4, respectRobots: true });
    expect(mergedRunConfig(batch, { maxRequestRetries: 0 })).toMatchObject({ maxRetries: 0, respectRobots: true });
  });

  it('of batches are taken by crawlers', () => {
    const handler = { requestHandler: () => undefined };
    expect(resolveOptions('http', { ...handler, maxRetries: 7 })).toMatchObject({ maxRequestRetries: 7 });
    const polite = resolveOptions('http', { ...handler, respectRobotsTxtFile: true });
    expect(resolveOptions('http', { ...handler, respectRobots: true }).robotsAgent).toBe(polite.robotsAgent);
    expect(polite.robotsAgent).toBeDefined();
  });

  it('of crawlers are taken by pods, in either spelling', async () => {
    expect(await podsValues('maxRequestRetries: 5\nmax_body_bytes: 1000\nsameDomainDelaySecs: 3')).toEqual({
      values: { http_max_retries: 5, max_content_length: 1000, politeness_delay_seconds: 3 },
      problems: [],
    });
  });

  it('that mean the same exclude each other', async () => {
    expect(() => resolveRunConfig({ maxRetries: 1, maxRequestRetries: 2 })).toThrow(
      'RunConfig options "maxRequestRetries" and "maxRetries" are the same setting: give one of them',
    );
    expect(() => resolveOptions('http', { maxRetries: 1, maxRequestRetries: 2 })).toThrow('are the same setting');
    const { problems } = await podsValues('http_max_retries: 1\nmax_request_retries: 2');
    expect(problems).toEqual(['http_max_retries is given twice, as http_max_retries and as max_request_retries']);
  });
});
