// What one crawl under faults is, for the checker: the web, the stores, how each process ended. And its verdict.
// The checker runs in a process of its own and shares no code with src/.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export type WebPlan =
  | { readonly shape: 'tree'; readonly hosts: number; readonly pages: number; readonly net?: string }
  | { readonly shape: 'waves'; readonly pages: number; readonly largest: number; readonly seed: number };

export interface StoreFacts {
  /** `items`: dataset folders; `content`: data directories; `batch`: files of results. */
  readonly kind: 'items' | 'content' | 'batch';
  readonly paths: readonly string[];
}

export interface RunFacts {
  readonly name: string;
  readonly code: number | null;
  /** `killed`: by the scenario itself, which then starts it again. */
  readonly end: 'itself' | 'killed' | 'hung';
  readonly stdout: string;
  readonly stderr: string;
}

export interface CaseFacts {
  readonly plan: WebPlan;
  readonly port: number;
  readonly logFile: string;
  readonly delayMs: number;
  readonly stores: readonly StoreFacts[];
  readonly runs: readonly RunFacts[];
  /** Pages as [host, page] that may end without an item. */
  readonly excused: readonly (readonly [number, number])[];
  /** What the fault destroyed may be missing, if the end says so. */
  readonly mayBeIncomplete: boolean;
}

export interface Verdict {
  readonly pages: number;
  readonly stored: number;
  readonly lost: number;
  readonly saidMissing: number;
  readonly doubled: number;
  readonly early: number;
  readonly hung: number;
  readonly unsaid: number;
  readonly damaged: number;
  readonly requests: number;
  readonly refetched: number;
  readonly examples: readonly string[];
}

const CHECKER = fileURLToPath(new URL('../web/checker.mjs', import.meta.url));

export async function checkCase(folder: string, facts: CaseFacts): Promise<Verdict> {
  const file = path.join(folder, 'case.json');
  await writeFile(file, JSON.stringify(facts));
  const { stdout } = await promisify(execFile)(process.execPath, [CHECKER, file], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Verdict;
}

/** What must be zero. */
export const FAULTS = ['lost', 'doubled', 'early', 'hung', 'unsaid', 'damaged'] as const;

export function isClean(verdict: Verdict): boolean {
  return FAULTS.every((name) => verdict[name] === 0);
}
