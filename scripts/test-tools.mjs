// Programs the tests run beside Node, installed with the system's package manager when they are missing.
import { spawnSync } from 'node:child_process';

/** Command that shows it is there, and the Debian package it comes from. */
const TOOLS = [
  { command: 'openssl', versionFlag: 'version', package: 'openssl', why: 'certificates for TLS tests' },
  { command: 'redis-server', versionFlag: '--version', package: 'redis-server', why: 'tests of queues in Redis' },
  { command: 'pg_lsclusters', versionFlag: '--help', package: 'postgresql', why: 'tests of queues in Postgres' },
  { command: 'chromium', versionFlag: '--version', package: 'chromium', why: 'tests in a browser' },
  {
    command: 'chromium-headless-shell',
    versionFlag: '--version',
    package: 'chromium-headless-shell',
    why: 'tests of pages, at a third of the CPU',
  },
];

const isThere = ({ command, versionFlag }) => spawnSync(command, [versionFlag], { stdio: 'ignore' }).status === 0;

export function installTestTools() {
  const missing = TOOLS.filter((tool) => !isThere(tool));
  if (missing.length === 0) return;
  for (const tool of missing) console.log(`${tool.command} is missing (${tool.why})`);
  const packages = missing.map((tool) => tool.package);
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0) {
    console.error(`install ${packages.join(', ')} with your package manager, then run again`);
    process.exit(1);
  }
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo'];
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    console.log([command, ...rest].join(' '));
    const { status } = spawnSync(command, rest, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) {
      console.error(`apt-get ${args[0]} failed; install ${packages.join(', ')} by hand, then run again`);
      process.exit(status ?? 1);
    }
  }
}
