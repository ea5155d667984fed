// Names of segments: their order, their owners.
import { describe, expect, it } from 'vitest';
import { directFile, isOwnerGone, isSegmentName, isVisitName, newDirectStem, newVisitName } from './segment-names.js';
import { isVisitWriterGone, ownerName, parseDirectName } from './segment-names.js';

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
});
