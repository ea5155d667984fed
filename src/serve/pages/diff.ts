// The difference of two texts, line by line, as `git diff` writes it and as data.
// Promise: bounded in time: texts that differ in more than some thousand lines are shown as replaced.

interface Change {
  readonly type: 'normal' | 'add' | 'del';
  readonly content: string;
}

const MAX_EDITS = 2_000;
const CONTEXT = 3;

export function lineDiff(before: string, after: string): { text: string; json: { files: unknown[] } } {
  const old = before.split('\n');
  const now = after.split('\n');
  const changes = changesBetween(old, now);
  const hunks = hunksOf(changes);
  const text = hunks
    .map(({ header, lines }) => [header, ...lines.map(({ type, content }) => SIGNS[type] + content)].join('\n'))
    .join('\n');
  const chunks = hunks.map(({ header, lines }) => ({ content: header, changes: lines }));
  return { text, json: { files: [{ from: null, to: null, chunks }] } };
}

const SIGNS = { normal: ' ', add: '+', del: '-' } as const;

/** Myers' greedy search for the shortest edit, up to a number of edits. */
function changesBetween(old: readonly string[], now: readonly string[]): Change[] {
  const trail: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  const most = Math.min(MAX_EDITS, old.length + now.length);
  for (let edits = 0; edits <= most; edits++) {
    trail.push(new Map(reach));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down =
        diagonal === -edits ||
        (diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1));
      let x = down ? reach.get(diagonal + 1)! : reach.get(diagonal - 1)! + 1;
      let y = x - diagonal;
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x++;
        y++;
      }
      reach.set(diagonal, x);
      if (x >= old.length && y >= now.length) return backtrack(trail, old, now);
    }
    reach = new Map(reach);
  }
  return [
    ...old.map((content) => ({ type: 'del' as const, content })),
    ...now.map((content) => ({ type: 'add' as const, content })),
  ];
}

function backtrack(trail: readonly Map<number, number>[], old: readonly string[], now: readonly string[]): Change[] {
  const changes: Change[] = [];
  let x = old.length;
  let y = now.length;
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reach = trail[edits]!;
    const diagonal = x - y;
    const down =
      diagonal === -edits || (diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1));
    const from = down ? diagonal + 1 : diagonal - 1;
    const fromX = reach.get(from) ?? 0;
    const fromY = fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      changes.push({ type: 'normal', content: old[--x]! });
      y--;
    }
    if (edits === 0) break;
    if (down) changes.push({ type: 'add', content: now[--y]! });
    else changes.push({ type: 'del', content: old[--x]! });
  }
  return changes.reverse();
}

function hunksOf(changes: readonly Change[]): { header: string; lines: Change[] }[] {
  const hunks: { header: string; lines: Change[] }[] = [];
  let index = 0;
  while (index < changes.length) {
    while (index < changes.length && changes[index]!.type === 'normal') index++;
    if (index >= changes.length) break;
    const start = Math.max(0, index - CONTEXT);
    let end = index;
    let quiet = 0;
    while (end < changes.length && quiet <= 2 * CONTEXT) quiet = changes[end++]!.type === 'normal' ? quiet + 1 : 0;
    const last = end - Math.max(0, quiet - CONTEXT);
    const lines = changes.slice(start, last);
    const before = changes.slice(0, start);
    const at = (type: 'add' | 'del'): string => {
      const count = lines.filter((line) => line.type !== type).length;
      return `${before.filter((line) => line.type !== type).length + 1},${count}`;
    };
    hunks.push({ header: `@@ -${at('add')} +${at('del')} @@`, lines });
    index = end;
  }
  return hunks;
}
