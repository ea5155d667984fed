// The list of limits beside its page, its uses and its metric: every limit is used, counted and documented.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Limit, type LimitName, limitReached, LIMITS, limitsReached } from '../../src/limits.js';
import { createWorkerMetrics } from '../../src/pods/worker/metrics.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const names = Object.keys(LIMITS) as LimitName[];

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('limits.ts')
      ? [readFileSync(path, 'utf8')]
      : [];
  });
}

describe('limits', () => {
  it('stand in docs/limits.md, each with its number, its code and what happens beyond it', () => {
    const rows = names.map((name) => {
      const { max, unit, code, beyond }: Limit = LIMITS[name];
      return `| \`${name}\` | ${max.toLocaleString('en-US')} | ${unit} | ${code === undefined ? '' : `\`${code}\``} | ${beyond} |`;
    });
    const page = readFileSync(join(root, 'docs/limits.md'), 'utf8');
    expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
  });

  it('are used and counted in the source, every one of them', () => {
    const source = sources(join(root, 'src')).join('\n');
    expect(names.filter((name) => !source.includes(`LIMITS.${name}.`))).toEqual([]);
    expect(names.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
  });

  it('are told by a worker, by name, once they are reached', () => {
    const nothing = () => 0;
    const metrics = createWorkerMetrics({
      place: { role: 'fetcher' } as never,
      pages: nothing,
      handled: nothing,
      redisPorts: new Set(),
      skipped: () => new Map(),
      active: nothing,
      misplaced: nothing,
      foundLinks: nothing,
      ownLinks: nothing,
      sentLinks: nothing,
      slowHosts: () => undefined,
      pressure: () => ({ soft: 0, hard: 0 }),
    });
    const told = (): number | undefined =>
      metrics
        .snapshot()
        .find(([name, labels]) => name === 'orcrawl_limits_reached_total' && labels[0] === 'popups')?.[2] as number;
    const before = limitsReached('popups');
    limitReached('popups');
    limitReached('popups');
    expect(told()).toBe(before + 2);
    expect(told()).toBe(before + 2);
  });
});
