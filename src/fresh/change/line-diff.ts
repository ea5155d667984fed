// The difference of two texts, line by line, as `git diff` writes it and as data.
// Promise: the time is linear in the lines plus a constant: what differs in too many lines is shown as replaced.
import { LIMITS, limitReached } from '../../limits.js';

/** One line of a difference. */
export interface LineChange {
  /** `normal`: in both versions; `add`: new; `del`: gone. */
  readonly type: 'normal' | 'add' | 'del';
  /** The line itself, without a sign. */
  readonly content: string;
}

/** The difference of two texts. */
export interface LineDiff {
  /** As `git diff` writes it, without the names of files. */
  readonly text: string;
  /** The same as data. There is one file, without names. */
  readonly json: { readonly files: readonly { from: null; to: null; chunks: readonly DiffChunk[] }[] };
}

/** Lines that changed, with three lines around them. */
export interface DiffChunk {
  /** `@@ -1,3 +1,4 @@` */
  readonly content: string;
  /** Lines in order, with some unchanged ones around each change. */
  readonly changes: readonly LineChange[];
}

const CONTEXT = 3;
const SIGNS = { normal: ' ', add: '+', del: '-' } as const;

/**
 * The difference of two texts, line by line.
 *
 * @example
 * lineDiff('a\nb', 'a\nc').text // '@@ -1,2 +1,2 @@\n a\n-b\n+c'
 */
export function lineDiff(before: string, after: string): LineDiff {
  const chunks = chunksOf(changesBetween(before.split('\n'), after.split('\n')));
  const text = chunks
    .map(({ content, changes }) => [content, ...changes.map((line) => SIGNS[line.type] + line.content)].join('\n'))
    .join('\n');
  return { text, json: { files: [{ from: null, to: null, chunks }] } };
}

function changesBetween(old: readonly string[], now: readonly string[]): LineChange[] {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let same = 0;
  while (same < shorter - start && old[old.length - 1 - same] === now[now.length - 1 - same]) same++;
  const normal = (content: string): LineChange => ({ type: 'normal', content });
  return [
    ...old.slice(0, start).map(normal),
    ...shortestEdit(old.slice(start, old.length - same), now.slice(start, now.length - same)),
    ...old.slice(old.length - same).map(normal),
  ];
}

/** Myers' greedy search for the shortest edit, up to a number of edits; each step's reach is kept to walk back. */
function shortestEdit(old: readonly string[], now: readonly string[]): LineChange[] {
  const most = Math.min(LIMITS.diffEdits.max, old.length + now.length);
  const middle = most + 1;
  const reach = new Int32Array(2 * middle + 1);
  const trail: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trail.push(reach.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = middle + diagonal;
      const isDown = diagonal === -edits || (diagonal !== edits && reach[at - 1]! < reach[at + 1]!);
      let x = isDown ? reach[at + 1]! : reach[at - 1]! + 1;
      let y = x - diagonal;
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x++;
        y++;
      }
      reach[at] = x;
      if (x >= old.length && y >= now.length) return walkBack(trail, old, now);
    }
  }
  limitReached('diffEdits');
  const del = (content: string): LineChange => ({ type: 'del', content });
  const add = (content: string): LineChange => ({ type: 'add', content });
  return [...old.map(del), ...now.map(add)];
}

function walkBack(trail: readonly Int32Array[], old: readonly string[], now: readonly string[]): LineChange[] {
  const changes: LineChange[] = [];
  let x = old.length;
  let y = now.length;
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reach = trail[edits]!;
    const at = (diagonal: number) => reach[diagonal + edits + 1]!;
    const diagonal = x - y;
    const isDown = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : at(from);
    const fromY = edits === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      changes.push({ type: 'normal', content: old[--x]! });
      y--;
    }
    if (edits === 0) break;
    if (isDown) changes.push({ type: 'add', content: now[--y]! });
    else changes.push({ type: 'del', content: old[--x]! });
  }
  return changes.reverse();
}

/** Chunks closer than twice the context are one. */
function chunksOf(changes: readonly LineChange[]): DiffChunk[] {
  const chunks: DiffChunk[] = [];
  let oldLine = 1;
  let newLine = 1;
  let counted = 0;
  for (let index = 0; index < changes.length;) {
    if (changes[index]!.type === 'normal') {
      index++;
      continue;
    }
    const start = Math.max(counted, index - CONTEXT);
    let end = index;
    for (let quiet = 0; end < changes.length && quiet <= 2 * CONTEXT; end++) {
      quiet = changes[end]!.type === 'normal' ? quiet + 1 : 0;
    }
    while (end > index && changes[end - 1]!.type === 'normal') end--;
    index = end;
    end = Math.min(changes.length, end + CONTEXT);
    for (; counted < start; counted++) {
      oldLine++;
      newLine++;
    }
    const lines = changes.slice(start, end);
    const added = lines.filter(({ type }) => type === 'add').length;
    const deleted = lines.filter(({ type }) => type === 'del').length;
    const [oldLines, newLines] = [lines.length - added, lines.length - deleted];
    chunks.push({ content: `@@ -${oldLine},${oldLines} +${newLine},${newLines} @@`, changes: lines });
    oldLine += oldLines;
    newLine += newLines;
    counted = end;
    index = end;
  }
  return chunks;
}
