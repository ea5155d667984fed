// Measures that take hours are made in rounds, over several runs: each complete round is a line of bench/rounds/NAME.jsonl,
// and the figures are the sums of those lines. To begin anew, delete the file.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** What code a round was made with, and when. */
export interface RoundOrigin {
  readonly commit: string;
  readonly day: string;
}

export interface Rounds<Round> {
  read(): Round[];
  add(round: Round): void;
}

export function roundsOf<Round>(name: string): Rounds<Round> {
  const file = new URL(`../rounds/${name}.jsonl`, import.meta.url);
  return {
    read: () =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Round),
    add: (round) => appendFileSync(file, `${JSON.stringify(round)}\n`),
  };
}

/** `of` is what the commit names, or one of its folders: `HEAD:src/frontier` changes only when that folder does. */
export const commitOf = (of = 'HEAD'): string =>
  execFileSync('git', ['rev-parse', '--short', of], { encoding: 'utf8' }).trim();

export const originOf = (): RoundOrigin => ({ commit: commitOf(), day: new Date().toISOString().slice(0, 10) });
