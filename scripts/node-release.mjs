// Another release of Node than the one in use, from the npm package that holds its program (`node@24` would start npm
// again to install it). It is kept in .tests/ for all tests of a run, where ./test-sources.mjs removes what is old.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const FOLDER = resolve('.tests');
const PLATFORM = process.platform === 'win32' ? 'win' : process.platform;

/** Path of its program. Throws when it cannot be installed here. */
export async function nodeRelease(major) {
  const name = `node-${PLATFORM}-${process.arch}`;
  const home = join(FOLDER, `node-${major}`);
  const program = join(home, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(program)) return program;
  mkdirSync(FOLDER, { recursive: true });
  const making = mkdtempSync(`${home}.`);
  try {
    const args = ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', making];
    const shell = process.platform === 'win32';
    await promisify(execFile)('npm', [...args, `${name}@${major}`], { timeout: 180_000, shell });
    renameSync(making, home);
  } catch (error) {
    if (!existsSync(program)) throw error; // otherwise another process was faster
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return program;
}
