// `npm run bench [-- --smoke]`: every benchmark, against dist/. With --smoke each is small: CI only proves
// that they run and that the goals that do not depend on a quiet machine hold.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isSmoke = process.argv.includes('--smoke');
if (!existsSync(new URL('../dist/index.js', import.meta.url))) {
  console.error('dist/ is missing: run npm run build first');
  process.exit(1);
}

const BENCHMARKS = [
  { file: 'scan.ts', args: [], env: isSmoke ? { BENCH_ROUND_MS: '50' } : {} },
  { file: 'extract.ts', args: isSmoke ? ['--without-readability'] : [], env: isSmoke ? { BENCH_ROUND_MS: '50' } : {} },
  { file: 'frontier.ts', args: isSmoke ? ['--urls', '20000', '--shape', 'thousand'] : [], env: {} },
];

for (const { file, args, env } of BENCHMARKS) {
  console.log(`\n== bench/${file} ${args.join(' ')}`);
  const path = fileURLToPath(new URL(file, import.meta.url));
  const { status } = spawnSync(process.execPath, ['--import', 'jiti/register', path, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exit(status ?? 1);
}
