// What a start does with the default storages, by how the last runs ended.
import { describe, expect, it } from 'vitest';
import { decideStart, type Start } from './fresh-start.js';
import { afterEnd, type RunRecord, type RunState } from './run-state.js';

const lives = (pid: number) => pid < 100;
const DEAD = 100;
const run = (state: RunState) => ({ state, pids: [DEAD] });

describe('a start', () => {
  const cases: [what: string, record: RunRecord | undefined, start: Start][] = [
    ['that is the first empties what other programs left', { runs: {} }, 'empty all'],
    ['after a run that finished empties everything', { runs: { default: run('finished') } }, 'empty all'],
    ['after a run that was interrupted continues', { runs: { default: run('interrupted') } }, 'continue'],
    ['after a run that crashed continues', { runs: { default: run('running') } }, 'continue'],
    ['whose record cannot be read continues', undefined, 'continue'],
    [
      'in a folder that a live process has just emptied continues',
      { preparedBy: 1, runs: { default: run('finished') } },
      'continue',
    ],
    ['after a process that emptied the folder and died empties it', { preparedBy: DEAD, runs: {} }, 'empty all'],
    ['after a finished run over a named queue leaves its items', { runs: { shop: run('finished') } }, 'continue'],
    ['after an interrupted run over a named queue leaves its items', { runs: { shop: run('running') } }, 'continue'],
    [
      'after finished runs over the default and a named queue begins the default one anew and leaves all items',
      { runs: { default: run('finished'), shop: run('finished') } },
      'empty queue',
    ],
    [
      'after an interrupted run continues, whatever became of others',
      { runs: { default: run('interrupted'), shop: run('finished') } },
      'continue',
    ],
  ];
  it.each(cases)('%s', (_what, record, start) => {
    expect(decideStart(record, 'default', 'finished', lives)).toBe(start);
  });

  it('that is told to empties everything', () => {
    for (const [, record] of cases) expect(decideStart(record, 'default', true, lives)).toBe('empty all');
  });
});

describe('a run over a shared queue', () => {
  it('goes on while another process works on it', () => {
    const before = { state: 'running', pids: [1, 2, DEAD] } as const;
    expect(afterEnd(before, 1, 'finished', lives)).toEqual({ state: 'running', pids: [2, DEAD] });
  });

  it('ends as its last process does when all of them ended', () => {
    expect(afterEnd({ state: 'running', pids: [1] }, 1, 'finished', lives)).toEqual({ state: 'finished', pids: [1] });
    expect(afterEnd(undefined, 1, 'interrupted', lives)).toEqual({ state: 'interrupted', pids: [1] });
  });

  it('counts as interrupted while a process that died in it has not come back', () => {
    const before = { state: 'running', pids: [1, DEAD] } as const;
    expect(afterEnd(before, 1, 'finished', lives)).toEqual({ state: 'interrupted', pids: [1] });
  });
});
