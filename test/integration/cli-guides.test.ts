// Every shell block of the guides runs as it is written, top to bottom, in one folder per guide, against the synthetic web.
// Files that a block shows with their name in the first line (`// list.ts`, `# crawl.yaml`) are written first.
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, symlink, watch, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startSimwebProcess, type SimwebOptions } from '../../src/testing/index.js';
import { browserPath } from '../support/browser.js';
import { orcrawlHere } from '../support/cli-here.js';
import { codeBlocks, ROOT, type CodeBlock } from '../support/documented-code.js';
import { inTemporaryFolder, MAIN } from './cli-process.js';

const run = promisify(execFile);
const guides = (await readdir(path.join(ROOT, 'docs/guides'))).filter((name) => name.endsWith('.md'));

/** Blocks that are shown, not run: a person, a model or another terminal does them. */
const NOT_RUN = new Set(['other-terminal', 'by-hand', 'model', 'install']);
const NAMED = /^(?:\/\/|#) ([\w-]+\.(?:ts|yaml|txt))\n/;
/** What the guides tell the reader to start. */
const PORT_IN_GUIDES = '8080';
const TIMEOUT_MS = 300_000;
const BLOCK_TIMEOUT_SECS = '120';

/** The options of the synthetic web, from the guide's own command. */
function webOf(blocks: readonly CodeBlock[]): SimwebOptions {
  const command = blocks.find(({ use }) => use === 'other-terminal')?.code ?? '';
  expect(command).toContain(`orcrawl simweb`);
  expect(command).toContain(`--port ${PORT_IN_GUIDES}`);
  const number = (flag: string, usual: number) => Number(new RegExp(`--${flag} (\\d+)`).exec(command)?.[1] ?? usual);
  return {
    hosts: number('hosts', 3),
    pagesPerHost: number('pages', 100),
    crossHostLinks: 0.1,
    addressing: 'addresses',
  };
}

/** A project with orcrawl installed, as far as `npx orcrawl` and `import 'orcrawl'` can tell. */
async function prepare(folder: string): Promise<string> {
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules);
  await symlink(ROOT, path.join(modules, 'orcrawl'));
  for (const name of ['jiti', 'playwright-core'])
    await symlink(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  const bin = path.join(folder, 'node_modules/.bin');
  await mkdir(bin);
  await mkdir(path.join(folder, CALLS));
  await writeFile(path.join(bin, 'npx'), NPX);
  await chmod(path.join(bin, 'npx'), 0o755);
  return bin;
}

/** Where commands are handed to this process. */
const CALLS = 'node_modules/.calls';

/**
 * npx itself would ask the registry. What writes into a pipe of the block, and `run` with its pods, is a process, as for
 * the reader; the others, of which other files start each kind, run in this process.
 */
const NPX = `#!/bin/bash
shift
if [ "$1" = run ] || [ "$(readlink /proc/$$/fd/1)" != "$(readlink /proc/$$/fd/9)" -a -p /dev/stdout ]; then
  exec "${process.execPath}" "${MAIN}" "$@"
fi
call="$PROJECT/${CALLS}/$$"
mkfifo "$call.done"
printf '%s\\0' "$PWD" "$@" > "$call.new"
mv "$call.new" "$call.args"
read -r code < "$call.done"
cat "$call.out"
cat "$call.err" >&2
exit "$code"
`;

/** Runs the commands that NPX hands over, until it is told to end. */
async function answerCalls(folder: string, signal: AbortSignal): Promise<void> {
  const calls = path.join(folder, CALLS);
  try {
    for await (const { filename } of watch(calls, { signal })) {
      if (!filename?.endsWith('.args')) continue;
      const call = path.join(calls, path.basename(filename, '.args'));
      const [cwd, ...args] = (await readFile(`${call}.args`, 'utf8')).split('\0').slice(0, -1);
      const { code, stdout, stderr } = await orcrawlHere(args, { cwd: cwd! });
      await writeFile(`${call}.out`, stdout);
      await writeFile(`${call}.err`, stderr);
      await writeFile(`${call}.done`, `${code}\n`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

describe('the guides', () => {
  for (const name of guides) {
    it(`${name} works as it is written`, { timeout: TIMEOUT_MS }, async () => {
      const blocks = codeBlocks(`docs/guides/${name}`);
      await using web = await startSimwebProcess(webOf(blocks));
      const port = new URL(web.url(0)).port;
      const here = (text: string) => text.replaceAll(`:${PORT_IN_GUIDES}/`, `:${port}/`);
      await inTemporaryFolder(async (folder) => {
        const bin = await prepare(folder);
        const over = new AbortController();
        const answering = answerCalls(folder, over.signal);
        let ran = 0;
        try {
          for (const { language, use, code, line } of blocks) {
            const file = NAMED.exec(code)?.[1];
            if (language === 'ts') expect(file, `docs/guides/${name}:${line} names no file`).toBeDefined();
            if (file !== undefined) await writeFile(path.join(folder, file), here(code));
            if (language !== 'sh' || NOT_RUN.has(use) || (use === 'browser' && browserPath === undefined)) continue;
            const PATH = `${bin}${path.delimiter}${process.env.PATH}`;
            const env = { ...cleanEnvironment(), PATH, NO_COLOR: '1', PROJECT: folder };
            const script = `exec 9>&1\n${here(code)}`;
            await run('timeout', ['--kill-after=5', BLOCK_TIMEOUT_SECS, 'bash', '-euo', 'pipefail', '-c', script], {
              cwd: folder,
              env,
            }).catch((error: unknown) => {
              const { stdout, stderr } = error as { stdout?: string; stderr?: string };
              throw new Error(`docs/guides/${name}:${line}: ${String(error)}\n${stdout ?? ''}\n${stderr ?? ''}`);
            });
            ran++;
          }
        } finally {
          over.abort();
          await answering;
        }
        expect(ran).toBeGreaterThan(1);
      });
    });
  }
});

/** Settings of whoever runs the tests must not reach the commands. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:ORCRAWL|CRAWLEE|npm|VITEST)_?/.test(name)),
  );
}
