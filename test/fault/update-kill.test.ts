// `orcrawl crawl --update` killed again and again amid the same visit, until the queue gives it up: what the visit found
// is not remembered, because it is not stored. The next update tells it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOSSES_ALONE } from '../../src/frontier/frontier.js';
import { Simweb } from '../../src/testing/index.js';
import { orcrawlHere } from '../support/cli-here.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PAGE = '/lamp';

let web: Simweb;
let folder: string;

beforeAll(async () => {
  web = await Simweb.start({ seed: 9, pagesPerHost: 1 });
  folder = await mkdtemp(path.join(tmpdir(), 'update-kill-'));
});

afterAll(async () => {
  await web.close();
  await rm(folder, { recursive: true, force: true });
});

const argsOf = (out: string): string[] => [
  ...['crawl', web.url(0, PAGE), '--update', '--format', 'jsonl', '--delay', '0', '-q', '--out', out],
];

/** Resolves to whether it was killed. */
async function killedUpdate(out: string, killAt: string): Promise<boolean> {
  const env = { ...process.env, ORCRAWL_KILL_AT: killAt };
  const child = spawn(process.execPath, [CLI, ...argsOf(out)], { stdio: 'ignore', env });
  await once(child, 'exit');
  return child.signalCode === 'SIGKILL';
}

const update = (out: string) => orcrawlHere(argsOf(out), { cwd: folder });

async function changesIn(out: string): Promise<string[]> {
  const text = await readFile(path.join(out, 'pages.jsonl'), 'utf8');
  return text.split('\n').flatMap((line) => (line ? [(JSON.parse(line) as { change: string }).change] : []));
}

it.each(['memory.after-stage:1', 'frontier.sent-settle:2', 'frontier.after-settle:2'])(
  'an update that is killed at %s until its page is given up loses no change',
  { timeout: 300_000 },
  async (point) => {
    const out = path.join(folder, point.replace(/\W/g, '-'));
    web.serve(PAGE, { body: '<article><p>A lamp for reading in bed, made of brass.</p></article>' });
    await update(out);
    expect(await changesIn(out)).toEqual(['new']);
    web.serve(PAGE, { body: '<article><p>A lamp for reading in bed, made of glass.</p></article>' });
    let kills = 0;
    while (kills < LOSSES_ALONE && (await killedUpdate(out, point))) kills++;
    expect(kills).toBeGreaterThan(0);
    // One that ends what was interrupted, and one that asks again.
    await update(out);
    await update(out);
    expect(await changesIn(out)).toEqual(['new', 'changed']);
  },
);
