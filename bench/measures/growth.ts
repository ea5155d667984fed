// The growth suite in full: every reader of what strangers write over every hostile input, at n, 2n and 4n characters.
// GROWTH_SHARE runs a part of the cases, GROWTH_SEED chooses which; ORCRAWL_MEASURE_SHARE works as for the others.
// GROWTH_READERS runs the readers whose names match a pattern. GROWTH_PARTS divides the readers among so many processes,
// one after another; GROWTH_WITH is a command to start each with, such as `flock FILE`, so that others get their turn.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INPUTS } from '../../test/growth/inputs.js';
import { allCases, type Slowest } from '../../test/growth/run.js';
import type { Figure } from '../measure.js';

const LOADER = fileURLToPath(new URL('../../scripts/typescript.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../growth-part.ts', import.meta.url));

interface Part {
  readonly cases: number;
  readonly failures: number;
  readonly slowest: readonly (readonly [reader: string, Slowest])[];
}

export async function measure(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-growth-'));
  const parts = Number(process.env.GROWTH_PARTS ?? 1);
  const found: Part[] = [];
  try {
    for (let part = 0; part < parts; part++) found.push(runPart(part, parts, join(folder, String(part))));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const total = (of: 'cases' | 'failures'): number => found.reduce((sum, part) => sum + part[of], 0);
  const slowest = found.flatMap((part) => part.slowest);
  const kinds = new Set(Object.values(INPUTS).flatMap((inputs) => inputs.map(({ name }) => name))).size;
  const [worst] = [...slowest].sort((a, b) => b[1].nsPerCharacter - a[1].nsPerCharacter);
  return [
    {
      what: `readers that grow faster than 2.5 × per doubling, give too much, cost too much or break (${slowest.length} readers, ${kinds} hostile inputs, ${allCases()} cases in all; ${chosen()})`,
      measured: `${total('failures')} in ${total('cases')} cases`,
      goal: '0 in ≥ 5,000',
    },
    {
      what: `the most that a character costs: ${worst?.[0]}, ${worst?.[1].input.slice(0, 80)}`.replaceAll('|', '\\|'),
      measured: `${((worst?.[1].nsPerCharacter ?? 0) / 1_000).toFixed(1)} µs`,
      goal: 'the longest input in 6 s (a page of 10 MB)',
    },
  ];
}

function runPart(part: number, parts: number, file: string): Part {
  const node = [process.execPath, '--import', LOADER, PROGRAM, String(part), String(parts), file];
  const [command = '', ...args] = [...(process.env.GROWTH_WITH?.split(' ') ?? []), ...node];
  const { status, signal } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`part ${part} of ${parts} ended with ${signal ?? `code ${status}`}`);
  return JSON.parse(readFileSync(file, 'utf8')) as Part;
}

/** Which cases ran, as the environment chose them. */
function chosen(): string {
  const given = Object.entries(process.env).filter(([name]) => /^GROWTH_(?:SHARE|SEED|READERS)$/.test(name));
  return given.map(([name, value]) => `${name}=${value}`).join(' ') || 'all';
}
