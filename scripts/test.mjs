// `npm test`: sets up what the tests need, builds what ships, and runs every test against it.
// Arguments go to vitest, e.g. `npm test -- test/fault`.
import { spawnSync } from 'node:child_process';
import { installTestTools } from './test-tools.mjs';

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}

installTestTools();
run(process.execPath, ['scripts/build.mjs', '--if-changed']);
run('npx', ['vitest', 'run', ...process.argv.slice(2)]);
