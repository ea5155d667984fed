import { describe, expect, it } from 'vitest';
import { userFrame } from './failure-place.js';

const stack = (...frames: string[]): string => ['TypeError: x is not a function', ...frames].join('\n');

describe('the place of a failure in user code', () => {
  it('is the first frame that is neither ours, nor a package, nor Node', () => {
    const text = stack(
      '    at Array.map (<anonymous>)',
      '    at async handle (file:///app/node_modules/orcrawl/dist/attempt.js:10:5)',
      '    at own (/opt/orcrawl/dist/crawl/x.js:3:1)',
      '    at async requestHandler (file:///app/my%20crawl.ts:12:9)',
      '    at file:///app/other.ts:1:1',
      '    at node:internal/main:1:1',
    );
    expect(userFrame(text, '/opt/orcrawl/dist/')).toBe('/app/my%20crawl.ts:12');
  });

  it('is found in a frame without a name', () => {
    expect(userFrame(stack('    at async file:///app/a.mjs:7:3'), '/opt/')).toBe('/app/a.mjs:7');
    expect(userFrame(stack('    at C:\\app\\a.mjs:7:3'), '/opt/')).toBe('C:\\app\\a.mjs:7');
  });

  it('is nothing without such a frame', () => {
    expect(userFrame(stack('    at node:internal/process/task_queues:95:5'))).toBeUndefined();
    expect(userFrame(undefined)).toBeUndefined();
  });
});
