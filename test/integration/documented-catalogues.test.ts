// The two catalogues that people look things up in: every option and every error code has its line.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RUN_SHAPE } from '../../src/crawl/batch/run-config.js';
import { PAGE_SHAPE } from '../../src/crawl/browser/page-config.js';
import { SHAPES } from '../../src/crawl/options/options-shapes.js';
import { ERROR_CLASSES } from '../../src/errors.js';

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('the documentation', () => {
  it('has a line for every option of every crawler', () => {
    const text = page('options.md');
    const names = new Set(Object.values(SHAPES).flatMap((shape) => Object.keys(shape)));
    expect([...names].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('has every option of a run', () => {
    const text = page('batch.md') + page('browser.md');
    const aliases = ['url', 'respectRobotsTxtFile', 'maxRequestRetries'];
    const names = [...Object.keys(RUN_SHAPE), ...Object.keys(PAGE_SHAPE)].filter((name) => !aliases.includes(name));
    expect(names.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
  });

  it('has a line with the right class for every error code, and for no other', () => {
    const documented = [...page('errors.md').matchAll(/^\| `([A-Z_]+)` \| (\w+) \|/gm)].map(([, code, kind]) => [
      code,
      kind,
    ]);
    expect(Object.fromEntries(documented)).toEqual(ERROR_CLASSES);
  });
});
