import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDiff } from './line-diff.js';

describe('lineDiff', () => {
  it('shows what was removed and added, with what stands around it', () => {
    const before = Array.from({ length: 20 }, (_, line) => `line ${line}`);
    const after = before.with(10, 'changed');
    const { text, json } = lineDiff(before.join('\n'), after.join('\n'));
    expect(text).toBe('@@ -8,7 +8,7 @@\n line 7\n line 8\n line 9\n-line 10\n+changed\n line 11\n line 12\n line 13');
    expect(json.files).toMatchObject([{ chunks: [{ changes: { length: 8 } }] }]);
  });

  it('leads from the one text to the other, whatever they are', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { json } = lineDiff(before.join('\n'), after.join('\n'));
        const [file] = json.files;
        let result: string[] = [...before];
        for (const { content, changes } of file!.chunks.toReversed()) {
          const start = Number(/^@@ -(\d+)/.exec(content)![1]) - 1;
          const old = changes.filter(({ type }) => type !== 'add').map((change) => change.content);
          expect(result.slice(start, start + old.length)).toEqual(old);
          const now = changes.filter(({ type }) => type !== 'del').map((change) => change.content);
          result = result.toSpliced(start, old.length, ...now);
        }
        expect(result).toEqual(after);
      }),
    );
  });
});
