// A page memory that was cut short or overwritten: it is refused by name or read as far as it is good, and the process
// lives. One that a kill left behind is whole.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, open, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lmdbDamage, lmdbFileState } from '../../src/base/lmdb-file.js';
import { TYPESCRIPT } from '../support/processes.js';
import { useMemory } from './programs/page-memory.js';

const PROGRAM = fileURLToPath(new URL('./programs/page-memory.ts', import.meta.url));
const PAGE_BYTES = 4_096;
const patience = { timeout: 600_000 };
let folder: string;

/** What the program printed, and by which signal it ended. */
async function run(...args: string[]): Promise<{ lines: string[]; signal: string | undefined }> {
  const options = { timeout: patience.timeout };
  const linesOf = (text: string) => text.trim().split('\n');
  return promisify(execFile)(process.execPath, ['--import', TYPESCRIPT, PROGRAM, ...args], options).then(
    ({ stdout }) => ({ lines: linesOf(stdout), signal: undefined }),
    (error: { stdout: string; signal?: string; code?: number }) => ({
      lines: linesOf(error.stdout),
      signal: error.signal ?? `exit code ${error.code}`,
    }),
  );
}

async function copyOf(name: string): Promise<{ memory: string; file: string; bytes: number }> {
  const memory = path.join(folder, name);
  const file = path.join(memory, 'data.mdb');
  await mkdir(memory);
  await copyFile(path.join(folder, 'whole', 'data.mdb'), file);
  return { memory, file, bytes: (await stat(file)).size };
}

async function overwrite(file: string, at: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, at);
  await handle.close();
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'memory-damage-'));
  expect(await useMemory(path.join(folder, 'whole'))).toBe('used 0');
  expect(await useMemory(path.join(folder, 'whole'))).toBe('used 1500');
}, patience.timeout);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('refuses a memory that lost pages, and survives every kind of damage', patience, async () => {
  const cut: string[] = [];
  for (const part of [0.02, 0.3, 0.6, 0.9]) {
    const { memory, file, bytes } = await copyOf(`cut-${part}`);
    await truncate(file, Math.floor((bytes * part) / PAGE_BYTES) * PAGE_BYTES);
    cut.push(memory);
  }
  const zeros = await copyOf('zeros');
  for (let at = 2 * PAGE_BYTES; at < zeros.bytes; at += 7 * PAGE_BYTES) {
    await overwrite(zeros.file, at, Buffer.alloc(PAGE_BYTES));
  }
  const noisy: string[] = [];
  for (const part of [0.1, 0.25, 0.5, 0.7, 0.85, 0.95]) {
    const { memory, file, bytes } = await copyOf(`noise-${part}`);
    const noise = Buffer.from(Array.from({ length: PAGE_BYTES - 8 }, (_, n) => (n * 7_919 + 13) % 251));
    await overwrite(file, Math.floor((bytes * part) / PAGE_BYTES) * PAGE_BYTES + 8, noise);
    noisy.push(memory);
  }
  const { lines, signal } = await run(...cut, zeros.memory, ...noisy);
  expect(signal).toBeUndefined();
  expect(lines.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'refused QUEUE_CORRUPT'));
  // A page that is free, or holds a part of a long value, is not looked at.
  for (const line of lines.slice(5)) expect(line).toMatch(/^(refused QUEUE_CORRUPT|used \d+)$/);
  expect(lines.length).toBe(11);
});

it('takes what a kill leaves behind for whole, whatever the length of the file', patience, async () => {
  const memory = path.join(folder, 'killed');
  const file = path.join(memory, 'data.mdb');
  expect((await run('die', memory)).signal).toBe('SIGKILL');
  expect(lmdbDamage(file)).toBeUndefined();
  expect(await useMemory(memory)).toMatch(/^used \d+$/);
  // The last pages may be ones that a transaction took and gave back: those alone are not missed.
  expect(['whole', 'truncated']).toContain(lmdbFileState(file));
  expect(lmdbDamage(file)).toBeUndefined();
});
