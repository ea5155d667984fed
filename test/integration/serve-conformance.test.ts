// The published conformance suite of MCP against /mcp of the server. It needs Node 22 and is not a dependency: both
// are installed for this test, which is skipped where that is impossible.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { otherNode } from '../support/other-node.js';
import { dataFolder, LOOPBACK, startServe } from '../support/serve.js';

const SUITE = '@modelcontextprotocol/conformance@0.1.16';

/** Scenarios of the suite that ask for tools, resources and prompts of its own fixture server. */
const NEED_FIXTURES = [
  ...['tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource'],
  ...['tools-call-mixed-content', 'tools-call-with-logging', 'tools-call-error', 'tools-call-with-progress'],
  ...['tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
  ...['resources-read-text', 'resources-read-binary', 'resources-templates-read', 'resources-subscribe'],
  ...['resources-unsubscribe', 'prompts-get-simple', 'prompts-get-with-args', 'prompts-get-embedded-resource'],
  ...['prompts-get-with-image', 'completion-complete'],
];

it('passes every scenario of the MCP conformance suite that needs no fixture of its own', async (context) => {
  const program = await otherNode(24);
  if (program instanceof Error) return context.skip(program.message);
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-conformance-'));
  const data = await dataFolder();
  try {
    const args = ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder, SUITE];
    await promisify(execFile)('npm', args, { timeout: 240_000 });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return context.skip(`the suite cannot be installed here: ${(error as Error).message.split('\n')[0]}`);
  }
  const server = await startServe(data.dir, [...LOOPBACK, '--no-auth']);
  const at = (...parts: string[]) => path.join(folder, 'node_modules', ...parts);
  const suite = at('@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const args = [suite, 'server', '--url', `${server.url}/mcp`];
  // Its exit code tells of the scenarios that cannot pass.
  const run = promisify(execFile)(program, args, { timeout: 240_000, cwd: folder });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const results = [...stdout.matchAll(/^([✓✗]) ([\w-]+): \d+ passed/gm)].map(([, mark, name]) => ({ mark, name }));
  const failed = results.filter(({ mark }) => mark === '✗').map(({ name }) => name);
  expect(results.length).toBeGreaterThanOrEqual(30);
  expect(failed.sort()).toEqual([...NEED_FIXTURES].sort());
  const documented = await readFile(new URL('../../docs/serve.md', import.meta.url), 'utf8');
  expect(NEED_FIXTURES.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  await server.stop();
  await data.remove();
  await rm(folder, { recursive: true, force: true });
}, 600_000);
