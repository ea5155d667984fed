// The Dockerfile, read as a builder reads it: no container engine is needed. scripts/run-dockerfile.sh runs its steps.
import { readFileSync, statSync } from 'node:fs';
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
