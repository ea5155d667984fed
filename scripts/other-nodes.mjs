// Runs the demo crawl and the unit tests with other releases of Node than the one in use, which are installed outside of
// the project: as a dependency they would take over every script.
// node scripts/other-nodes.mjs [24 22 …]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nodeRelease } from './node-release.mjs';

const majors = process.argv.slice(2);
if (majors.length === 0) majors.push('24');

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

for (const major of majors) {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-node-'));
  try {
    const node = await nodeRelease(major);
    run(node, ['--version']);
    run(node, [resolve('dist/cli/main.js'), 'demo'], { cwd: folder });
    run(node, [resolve('node_modules/vitest/vitest.mjs'), 'run', '--project', 'unit', '--reporter', 'dot']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
