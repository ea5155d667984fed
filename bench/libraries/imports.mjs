// What importing a package costs: CPU-ms of a process beyond those of Node alone, the median of eleven.
import { execFileSync } from 'node:child_process';
import { folder } from './from.mjs';

const CASES = {
  nothing: '',
  'prom-client': 'prom-client',
  zod: 'zod',
  'zod/mini': 'zod/mini',
  fontoxpath: 'fontoxpath',
  xpath: 'xpath',
  picomatch: 'picomatch',
  minimatch: 'minimatch',
  orcrawl: new URL('../../dist/index.js', import.meta.url).href,
};
const END = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);';
const measure = (url) => {
  const code = `${url === '' ? '' : `await import(${JSON.stringify(url)});`} ${END}`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', cwd: folder }));
};
const times = new Map(Object.keys(CASES).map((name) => [name, []]));
for (let round = 0; round < 11; round++)
  for (const [name, url] of Object.entries(CASES)) times.get(name).push(measure(url));
const median = (name) => times.get(name).sort((a, b) => a - b)[5];
for (const name of Object.keys(CASES)) {
  const beyond = name === 'nothing' ? median(name) : median(name) - median('nothing');
  console.log(`${name}: ${beyond.toFixed(0)} CPU-ms`);
}
