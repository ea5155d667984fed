// Tries the crawl offline: a synthetic web of eight hosts on this machine, crawled by trial.yaml.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Simweb } from 'orcrawl/testing';

const web = await Simweb.start({ hosts: 8, pagesPerHost: 10, crossHostLinks: 0.2 });
await mkdir('trial', { recursive: true });
await writeFile('trial/seeds.txt', web.seeds().join('\n'));

const orcrawl = createRequire(import.meta.url)
  .resolve('orcrawl/package.json')
  .replace('package.json', 'dist/cli/main.js');
const crawl = spawn(process.execPath, [orcrawl, 'run', '--config', 'trial.yaml', '--fresh'], { stdio: 'inherit' });
const [code] = (await once(crawl, 'exit')) as [number | null];
await web.close();
console.log('The items are in trial/pages/datasets/default');
process.exitCode = code ?? 1;
