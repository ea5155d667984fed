// SIGTERM in a script of Crawlee that is also a web server: the pages under way are finished, and the process ends.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ENTRY = fileURLToPath(new URL('../../dist/crawlee/entry.js', import.meta.url));
const SCRIPT = `
import { createServer } from 'node:http';
import { BasicCrawler, Configuration } from ${JSON.stringify(ENTRY)};
createServer(() => {}).listen(0, '127.0.0.1');
const requestHandler = async () => {
  console.log('handling');
  await new Promise((resolve) => setTimeout(resolve, 300));
  console.log('handled');
};
const config = new Configuration({ persistStorage: false });
await new BasicCrawler({ keepAlive: true, requestHandler }, config).run(['http://127.0.0.1/']);
console.log('run ended');
`;

it('ends a process whose server still listens, after its pages', { timeout: 60_000 }, async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString();
    if (said.includes('handling') && !child.killed) child.kill('SIGTERM');
  });
  const signal = await new Promise((resolve) => child.on('exit', (_code, by) => resolve(by)));
  expect(said).toMatch(/handling[^]*handled[^]*run ended/);
  expect(signal).toBe('SIGTERM');
});
