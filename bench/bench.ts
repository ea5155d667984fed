// `npm run bench [-- NAME] [--smoke]`: every benchmark, or the named one with its own options, against dist/.
// With --smoke each is small: CI only proves that they run. `npm run bench -- --profile` shows where a crawl's time goes.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LOADER = new URL('../scripts/typescript.mjs', import.meta.url).href;
const given = process.argv.slice(2);
const isSmoke = given.includes('--smoke');
if (!existsSync(new URL('../dist/index.js', import.meta.url))) {
  console.error('dist/ is missing: run npm run build first');
  process.exit(1);
}

const BENCHMARKS: { name: string; args: string[]; env: Record<string, string> }[] = [
  { name: 'scan', args: [], env: isSmoke ? { BENCH_ROUND_MS: '50' } : {} },
  { name: 'links', args: [], env: isSmoke ? { BENCH_ROUNDS: '3' } : {} },
  { name: 'extract', args: isSmoke ? ['--smoke'] : [], env: isSmoke ? { BENCH_ROUND_MS: '50' } : {} },
  { name: 'frontier', args: isSmoke ? ['--urls', '20000', '--shape', 'thousand'] : [], env: {} },
  { name: 'crawl', args: isSmoke ? ['--smoke'] : [], env: {} },
];

function run(name: string, args: readonly string[], env: Record<string, string> = {}): void {
  console.log(`\n== bench/${name}.ts ${args.join(' ')}`);
  const path = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, ['--import', LOADER, path, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exit(status ?? 1);
}

const named = BENCHMARKS.find(({ name }) => name === given[0]);
if (given.includes('--profile')) run('profile', given);
else if (named) run(named.name, given.slice(1), named.env);
else for (const { name, args, env } of BENCHMARKS) run(name, args, env);
