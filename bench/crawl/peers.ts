// What is compared with, installed by npm into a cache outside the project: Crawlee, and other releases of Node.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CACHE = process.env['ORCRAWL_BENCH_CACHE'] ?? join(tmpdir(), 'orcrawl-bench-peers');
const CRAWLEE_VERSION = '3.18';

function install(folder: string, spec: string): void {
  mkdirSync(folder, { recursive: true });
  console.log(`installing ${spec} into ${folder}`);
  const args = ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, spec];
  const { status } = spawnSync('npm', args, { stdio: 'inherit', cwd: folder });
  if (status !== 0) throw new Error(`npm could not install ${spec}`);
}

/** The folder Crawlee is installed in. */
export function crawleeFolder(): string {
  const folder = join(CACHE, `crawlee-${CRAWLEE_VERSION}`);
  if (!existsSync(join(folder, 'node_modules/@crawlee/cheerio'))) {
    install(folder, `@crawlee/cheerio@${CRAWLEE_VERSION}`);
  }
  return folder;
}

export function crawleeVersion(): string {
  const file = join(crawleeFolder(), 'node_modules/@crawlee/cheerio/package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** The executable of another release of Node. */
export function nodeOfMajor(major: string): string {
  const folder = join(CACHE, `node-${major}`);
  const node = join(folder, 'node_modules/node/bin/node');
  if (!existsSync(node)) install(folder, `node@${major}`);
  return node;
}
