// Builds dist/ from src/ with tsc, from scratch, adds the Lua scripts, and makes the command-line entry executable.
// Runs on `npm ci` (prepare) and before the tests, so that what is tested is what ships.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';

rmSync('dist', { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
cpSync('src/frontier/redis/lua', 'dist/frontier/redis/lua', { recursive: true });
if (existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755);
