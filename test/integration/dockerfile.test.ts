// The Dockerfile, read as a builder reads it: no container engine is needed. scripts/run-dockerfile.sh runs its steps.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { minimatch } from 'minimatch';
import { DATA_DIR, USER_ID } from '../../src/pods/operate/k8s/paths.js';
import { startNode } from './cli-process.js';

interface Step {
  readonly name: string;
  readonly text: string;
  readonly stage: number;
}

/** The instructions, with continued lines joined. */
function steps(): Step[] {
  const lines = readFileSync('Dockerfile', 'utf8').replaceAll(/\\\n/g, ' ').split('\n');
  let stage = -1;
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (name === 'FROM') stage++;
      return { name, text, stage };
    });
}

/** The last line of .dockerignore that fits decides. */
function isSent(path: string): boolean {
  let sent = true;
  for (const line of readFileSync('.dockerignore', 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const pattern = line.replace(/^!/, '');
    const folders = path.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'));
    if (folders.some((part) => minimatch(part, pattern, { dot: true }))) sent = line.startsWith('!');
  }
  return sent;
}

const contentOf = (file: string) =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;

describe('the Dockerfile', () => {
  it('has known instructions in two stages', () => {
    const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ARG', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'ENTRYPOINT', 'CMD'];
    expect(steps().filter(({ name }) => !known.includes(name))).toEqual([]);
    expect(steps().at(-1)!.stage).toBe(1);
  });

  it('copies only what exists and is sent to the builder', () => {
    const copied = steps().filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'));
    const sources = copied.flatMap(({ text }) => text.split(/\s+/).slice(0, -1));
    expect(sources.length).toBeGreaterThan(8);
    for (const source of sources) {
      expect([source, statSync(source).isFile() || statSync(source).isDirectory()]).toEqual([source, true]);
      expect([source, isSent(source)]).toEqual([source, true]);
    }
    const kept = [
      'node_modules/a',
      '.git/config',
      'dist/index.js',
      'test/a.ts',
      'k8s/secret.yaml',
      '.env',
      'src/a.test.ts',
    ];
    expect(kept.filter(isSent)).toEqual([]);
  });

  it('copies from the first stage what that stage makes', () => {
    const from = steps().filter(({ text }) => text.startsWith('--from=build'));
    expect(from.map(({ text }) => text.split(/\s+/)[1])).toEqual(['/app/node_modules', '/app/dist']);
    expect(steps().some(({ name, text, stage }) => stage === 0 && name === 'RUN' && /scripts\/build/.test(text))).toBe(
      true,
    );
  });

  it('has the packages that object stores, Postgres and its browser need, in the versions of the lockfile', async () => {
    const made = steps().filter(({ stage }) => stage === 0);
    const keep = made.findIndex(({ name, text }) => name === 'RUN' && text.includes('image-packages'));
    expect(keep).toBeLessThan(made.findIndex(({ text }) => text.includes('npm prune')));
    expect(made[keep]!.text).toMatch(/ @aws-sdk\/client-s3 pg \$\(.*CHROMIUM.* playwright-core\)$/);
    expect(made.slice(0, keep).map(({ name, text }) => `${name} ${text}`)).toContain('ARG CHROMIUM=0');
    const folder = mkdtempSync(join(tmpdir(), 'orcrawl-image-'));
    const script = resolve('scripts/image-packages.mjs');
    const before = contentOf('package.json');
    copyFileSync('package.json', join(folder, 'package.json'));
    const run = (...names: string[]) => startNode([script, ...names], { cwd: folder }).ended;
    expect(await run('@aws-sdk/client-s3', 'pg', 'playwright-core')).toMatchObject({ code: 0, stderr: '' });
    const { dependencies, devDependencies } = contentOf(join(folder, 'package.json'));
    for (const name of ['@aws-sdk/client-s3', 'pg', 'playwright-core']) {
      expect([name, dependencies[name], devDependencies[name]]).toEqual([
        name,
        before.devDependencies[name],
        undefined,
      ]);
    }
    expect((await run('typescript')).stderr).toContain('not an optional package');
    rmSync(folder, { recursive: true });
  });

  it('runs as the user that the manifests name, with an entry point that starts', async () => {
    const last = (name: string) => steps().findLast((step) => step.name === name && step.stage === 1)!.text;
    expect(last('USER')).toBe(`${USER_ID}:${USER_ID}`);
    expect(last('VOLUME')).toBe(DATA_DIR);
    const entry = JSON.parse(last('ENTRYPOINT')) as string[];
    expect(entry.slice(0, 3)).toEqual(['/usr/bin/tini', '--', 'node']);
    const { code, stdout } = await startNode(
      [entry[3]!.replace('/app/', ''), ...(JSON.parse(last('CMD')) as string[])],
      {
        cwd: process.cwd(),
      },
    ).ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: orcrawl')]);
  });
});
