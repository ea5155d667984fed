import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KILL_POINTS } from './kill-points.js';

const SOURCE = join(import.meta.dirname, '..');

describe('kill points', () => {
  it('are each passed in exactly one place of the source', () => {
    const used = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/killPoint\(\s*['`]([^'`]+)['`]\)/g)])
      .flatMap(([, name]) =>
        name!.includes('${step}') ? ['add', 'lease', 'settle'].map((step) => name!.replace('${step}', step)) : [name!],
      );
    expect(used.sort()).toEqual([...KILL_POINTS].sort());
  });
});
