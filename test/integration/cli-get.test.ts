// `orcrawl get` as a user runs it, on pages that a content store wrote.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ContentStore } from '../../src/store/content/content.js';
import { orcrawlHere } from '../support/cli-here.js';
import { MAIN, startNode } from './cli-process.js';
import { folders } from './content-fixtures.js';
import { page, textOf, urlOf } from './content-pages.js';

let dataDirs: string[];

const command = (...args: string[]) => ['get', ...args, ...dataDirs.flatMap((dir) => ['--data-dir', dir])];
const get = (...args: string[]) => orcrawlHere(command(...args), { cwd: dataDirs[0]! });

describe('orcrawl get', () => {
  beforeAll(async () => {
    dataDirs = await folders(2, 'suite');
    const content = await ContentStore.open({ dataDirs, storeRawHtml: true });
    const list = [page(1), page(2), page(3, { response: undefined })];
    const packed = [];
    for (const each of list) packed.push(await content.pack(each));
    await content.append(packed);
    await content.close();
  });

  it('prints the text, the body and the metadata of a page', async () => {
    const [text, raw, meta, json] = await Promise.all([
      get(urlOf(1)),
      startNode([MAIN, ...command(urlOf(1), '--raw')], { cwd: dataDirs[0]! }).ended,
      get(`${urlOf(1)}/?utm_campaign=x`, '--meta'),
      get(urlOf(2), '--json'),
    ]);
    expect(text).toMatchObject({ code: 0, stdout: `${textOf(1)}\n`, stderr: '' });
    expect(raw).toMatchObject({ code: 0, stdout: `<p>${textOf(1)}</p>` });
    expect(meta.stdout).toContain(
      `url: ${urlOf(1)}\nfate: done\nstatus_code: 200\nfetched_at: 2026-01-01T00:00:01.000Z\n`,
    );
    expect(meta.stdout).toContain(`content_path: ${join(dataDirs[0]!).slice(0, 20)}`);
    expect(JSON.parse(json.stdout)).toMatchObject({ url: urlOf(2), depth: 2, text: textOf(2) });
  });

  it('finds the data directories in the configuration of the crawl', async () => {
    const file = join(dataDirs[0]!, 'crawl.yaml');
    await writeFile(file, `pods: [./pod0]\ndata_dirs: ${JSON.stringify(dataDirs)}\n`);
    const [found, unsaid, absent] = await Promise.all(
      [['--config', file], [], ['--config', 'none.yaml']].map(
        (flags) => startNode([MAIN, 'get', urlOf(1), ...flags], { cwd: dataDirs[0]! }).ended,
      ),
    );
    expect(found).toMatchObject({ code: 0, stdout: `${textOf(1)}\n`, stderr: '' });
    expect(unsaid).toMatchObject({ code: 1, stderr: expect.stringContaining('Give --config FILE or --data-dir DIR') });
    expect(absent).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/none\.yaml cannot be read: file not found/),
    });
  });

  it('says in one line what is missing', async () => {
    const [absent, rawless, noDirectory, twoForms] = await Promise.all([
      get(urlOf(9)),
      get(urlOf(3), '--raw'),
      orcrawlHere(['get', urlOf(1), '-d', '/nowhere'], { cwd: dataDirs[0]! }),
      get(urlOf(1), '--raw', '--text'),
    ]);
    expect(absent).toMatchObject({ code: 1, stdout: '' });
    expect(absent.stderr).toMatch(/^error: https:\/\/host-9\.example\/pages\/9 is not stored in .*\n$/);
    expect(rawless.stderr).toContain('is stored without its body');
    expect(noDirectory).toMatchObject({ code: 1, stderr: expect.stringContaining('is it a data directory?') });
    expect(twoForms).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be used with') });
  });
});
