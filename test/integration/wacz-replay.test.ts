// A WACZ file replayed by a tool that is not ours: every page is found, at every time, also through revisits.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { timestampOf } from '../../src/store/content/cdxj.js';
import { exportWacz } from '../../src/store/content/export/wacz.js';
import { at, crawls } from './content-crawls.js';
import { folders } from './content-fixtures.js';

const REPLAY = fileURLToPath(new URL('../support/wabac-replay.mjs', import.meta.url));

it('is replayed by @webrecorder/wabac', { timeout: 600_000 }, async () => {
  const [dataDir] = (await folders(1)) as [string];
  await crawls(dataDir);
  const file = join(dataDir, 'all.wacz');
  await exportWacz([dataDir], file);
  const wishes = [1, 2, 3].flatMap((n) =>
    [0, 1, 2, 3].map((day) => ({ url: `https://site.example/${n}`, ts: timestampOf(at(day)) })),
  );
  const { stdout } = await promisify(execFile)(process.execPath, [REPLAY, file, JSON.stringify(wishes)]);
  const { pages, found } = JSON.parse(stdout) as {
    pages: string[];
    found: { url: string; status: number; body: string }[];
  };
  expect(new Set(pages)).toEqual(new Set(wishes.map(({ url }) => url)));
  expect(found.map(({ status }) => status)).toEqual(wishes.map(() => 200));
  const versions = found.map(({ url, body }) => `${url.at(-1)}: ${/version \d+/.exec(body)?.[0]}`);
  expect(versions).toEqual([
    ...['1: version 1', '1: version 1', '1: version 1', '1: version 1'],
    ...['2: version 2', '2: version 3', '2: version 4', '2: version 5'],
    ...['3: version 1', '3: version 1', '3: version 2', '3: version 2'],
  ]);
});
