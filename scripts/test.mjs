// `npm test`: sets up what the tests need, builds what ships, and runs every test against it.
// Arguments go to vitest, e.g. `npm test -- test/fault`.
//
// The tests run real servers and processes, six files at a time on a machine that is shared. A file that fails then is
// run once more with the machine to itself, and named at the end either way; one that fails twice fails the run.
// Unit tests have no second chance. `docs/decisions/045-test-time.md` says why.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installTestTools } from './test-tools.mjs';

/** More than these are no bad luck. */
const MOST_FILES_TRIED_AGAIN = 8;

const folder = mkdtempSync(path.join(tmpdir(), 'orcrawl-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function run(command, args, env = {}) {
  const options = { stdio: 'inherit', shell: process.platform === 'win32', env: { ...process.env, ...env } };
  return spawnSync(command, args, options).status ?? 1;
}

function vitest(args) {
  const unpassed = path.join(folder, 'unpassed.json');
  rmSync(unpassed, { force: true });
  const reporters = ['--reporter=default', '--reporter=./scripts/unpassed-reporter.mjs'];
  const code = run('npx', ['vitest', 'run', ...reporters, ...args], { ORCRAWL_UNPASSED: unpassed });
  return { code, unpassed: read(unpassed) };
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // vitest itself did not get to its end
  }
}

/** The files to try again, or none when that could not change the result. */
function secondChances({ code, unpassed }) {
  if (code === 0 || unpassed === undefined || unpassed.reason === 'interrupted' || unpassed.loose > 0) return [];
  const { files } = unpassed;
  return files.length > MOST_FILES_TRIED_AGAIN || files.some(({ project }) => project === 'unit') ? [] : files;
}

installTestTools();
const built = run(process.execPath, ['scripts/build.mjs', '--if-changed']);
if (built !== 0) process.exit(built);

const first = vitest(process.argv.slice(2));
const again = secondChances(first);
if (again.length === 0) process.exit(first.code);

console.log(`\n${again.length} test files did not pass. Each is run once more, alone:`);
for (const { file, state } of again) console.log(`  ${file} (${state})`);
const second = vitest([...again.map(({ file }) => file), '--no-file-parallelism']);
console.log('\nFailed beside others, to be looked at:');
for (const { file } of again) {
  const isBad = second.unpassed?.files.some((other) => other.file === file) ?? true;
  console.log(`  ${file}: ${isBad ? 'failed alone, too' : 'passed alone'}`);
}
process.exit(second.code);
