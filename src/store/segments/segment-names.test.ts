// Names of segments: their order, their owners.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { directFile, isOwnerGone, isSegmentName, isVisitName, newDirectStem, newVisitName } from './segment-names.js';
import { isOwnerHere, isVisitWriterGone, ownerName, parseDirectName } from './segment-names.js';

describe('segment names', () => {
  it('sort by age and never repeat', () => {
    const names: string[] = [];
    for (let n = 0; n < 12; n++) {
      names.push(n % 2 ? newVisitName(names, 'w') : directFile(newDirectStem(names), ownerName()));
    }
    expect(names.toSorted()).toEqual(names);
    expect(names.every(isSegmentName)).toBe(true);
    expect(newVisitName(names, 'w')).not.toBe(newVisitName(names, 'w'));
  });

  it('keep their stem through owners', () => {
    const stem = newDirectStem([]);
    expect(parseDirectName(directFile(stem))).toEqual({ stem, owner: undefined });
    expect(parseDirectName(directFile(stem, ownerName()))).toEqual({ stem, owner: ownerName() });
    expect(parseDirectName(newVisitName([], 'direct'))).toBeUndefined();
  });

  it('tell from a note’s key whether the writer of a visit segment is gone', () => {
    const keyOf = (owner: string): string => `dataset/default/${newVisitName([], owner)}`;
    expect(isVisitWriterGone(keyOf(ownerName()))).toBe(false);
    expect(isVisitWriterGone(keyOf(ownerName().replace(/-\d+-\d+-/, '-99999999-1-')))).toBe(true);
    expect(isVisitWriterGone('run:state')).toBe(false);
  });

  it('hold nothing that a path could be made of', () => {
    const name = newVisitName([], '../../etc/passwd\0');
    expect(isVisitName(name)).toBe(true);
    expect(name).not.toMatch(/[/\\.]{2}/);
  });

  it('tell a dead owner from one that may be alive', () => {
    const [host, pid, start, thread] = ownerName().split('-') as [string, string, string, string];
    expect(isOwnerGone(ownerName())).toBe(false);
    expect(isOwnerGone(`${host}-99999999-1-0`)).toBe(true);
    expect(isOwnerGone(`00000000-99999999-1-0`)).toBe(false);
    expect(isOwnerGone(`${host}-${pid}-0-${thread}`)).toBe(false);
    // The same number, another life: only a system that tells start times can know.
    expect(isOwnerGone(`${host}-${pid}-${Number(start) + 1}-${thread}`)).toBe(start !== '0');
  });

  it.runIf(process.platform === 'linux')('take an owner for dead whose parent has not heard of its end', async () => {
    // A shell that becomes a program which asks after no child: what it started stays a zombie.
    const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [said] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(said.toString());
      const statOf = () =>
        readFileSync(`/proc/${pid}/stat`, 'latin1')
          .replace(/^.*\) /s, '')
          .split(' ');
      const [host] = ownerName().split('-');
      const owner = `${host}-${pid}-${statOf()[19]}-0`;
      await expect.poll(() => statOf()[0], { timeout: 10_000 }).toBe('Z');
      expect([isOwnerGone(owner), isOwnerHere(owner)]).toEqual([true, false]);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
