import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readLines } from './body.js';

async function* slowly(lines: readonly string[], pauseMs: number): AsyncGenerator<Buffer> {
  for (const line of lines) {
    await sleep(pauseMs);
    yield Buffer.from(`${line}\n`);
  }
}

async function read(chunks: AsyncIterable<Buffer>, pauseMs: number): Promise<string[]> {
  const found: string[] = [];
  for await (const line of readLines(chunks, 100, pauseMs)) if (line !== '') found.push(line);
  return found;
}

describe('readLines', () => {
  it('takes as long as something comes', async () => {
    const lines = Array.from({ length: 12 }, (_, n) => `https://example.com/${n}`);
    expect(await read(slowly(lines, 20), 150)).toEqual(lines);
  });

  it('does not wait for a body that stands still', async () => {
    await expect(read(slowly(['a', 'b'], 300), 50)).rejects.toMatchObject({ status: 408, code: 'REQUEST_TIMEOUT' });
  });
});
