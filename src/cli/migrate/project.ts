// A project folder on its way from Crawlee: which files change, and what a person must look at.
// Promise: nothing is written unless asked; a file is replaced as a whole; links and foreign folders are not followed.
import { lstat, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../exit-codes.js';
import { type Finding, rewritePackage, type Rewritten, rewriteSource } from './source.js';

/** One file that names Crawlee. */
export interface MigratedFile extends Pick<Rewritten, 'imports' | 'findings'> {
  /** Relative to the project. */
  readonly file: string;
  readonly text: string;
}
export interface Migration {
  readonly files: readonly MigratedFile[];
  /** Files that were not read, and why. */
  readonly skipped: readonly { readonly file: string; readonly why: string }[];
  readonly read: number;
}
export type { Finding };

const SOURCE = /\.(?:[cm]?[jt]s|[jt]sx)$/;
const NOT_OURS = new Set(['node_modules', 'dist', 'build', 'storage', 'coverage', 'apify_storage', 'crawlee_storage']);
const MAX_FILES = 20_000;
const MAX_BYTES = 2 * 1024 * 1024;

export async function planMigration(folder: string, version: string): Promise<Migration> {
  const files: MigratedFile[] = [];
  const skipped: { file: string; why: string }[] = [];
  let read = 0;
  for await (const file of sourcesOf(folder)) {
    if (++read > MAX_FILES) {
      throw new UsageError(`${folder} has more than ${MAX_FILES} source files: name the folder of one project`);
    }
    const whole = path.join(folder, file);
    const { size } = await lstat(whole);
    if (size > MAX_BYTES) {
      skipped.push({ file, why: 'larger than 2 MiB' });
      continue;
    }
    const text = decoded(await readFile(whole));
    if (text === undefined) {
      skipped.push({ file, why: 'not UTF-8' });
      continue;
    }
    if (path.basename(file) === 'package.json') {
      try {
        const changed = rewritePackage(text, version);
        if (changed !== undefined)
          files.push({ file, text: changed, imports: [{ line: 1, from: 'crawlee' }], findings: [] });
      } catch {
        skipped.push({ file, why: 'not valid JSON' });
      }
      continue;
    }
    const rewritten = rewriteSource(text);
    if (rewritten.imports.length > 0 || rewritten.findings.length > 0) files.push({ file, ...rewritten });
  }
  return { files, skipped, read };
}

/** With its byte order mark. Text in another encoding would not come back as it was. */
function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export async function writeMigration(folder: string, files: readonly MigratedFile[]): Promise<void> {
  for (const { file, text, imports } of files) {
    if (imports.length === 0) continue;
    const whole = path.join(folder, file);
    const { mode } = await lstat(whole);
    const unfinished = `${whole}.${process.pid}.orcrawl`;
    await writeFile(unfinished, text, { mode });
    await rename(unfinished, whole);
  }
}

async function* sourcesOf(folder: string, below = ''): AsyncGenerator<string> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || NOT_OURS.has(entry.name)) continue;
    const file = path.join(below, entry.name);
    if (entry.isDirectory()) yield* sourcesOf(folder, file);
    else if (entry.isFile() && (SOURCE.test(entry.name) || entry.name === 'package.json')) yield file;
  }
}
