// Runs the demo crawl and the unit tests with other releases of Node than the one in use. The npm package
// `node` ships them; it is installed outside the project, since as a dependency it would take over every script.
// node scripts/other-nodes.mjs [24 22 …]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const majors = process.argv.slice(2);
if (majors.length === 0) majors.push('24');

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

for (const major of majors) {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-node-'));
  try {
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, `node@${major}`]);
    const node = join(folder, 'node_modules/node/bin/node');
    run(node, ['--version']);
    run(node, [resolve('dist/cli/main.js'), 'demo'], { cwd: folder });
    run(node, [resolve('node_modules/vitest/vitest.mjs'), 'run', '--project', 'unit', '--reporter', 'dot']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
