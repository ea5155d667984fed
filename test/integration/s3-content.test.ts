// Content in an object store: what is moved there is there once, byte for byte, whatever fails or is killed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import S3rver from 's3rver';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { KILL_POINTS } from '../../src/base/kill-points.js';
import { ContentStore } from '../../src/store/content/content.js';
import { findPage } from '../../src/store/content/reading.js';
import { recoverContent } from '../../src/store/content/recovery.js';
import { openObjects } from '../../src/store/content/remote/objects.js';
import { createShipping } from '../../src/store/content/remote/shipping.js';
import { startS3, type Trouble } from '../support/s3-server.js';
import { folders } from './content-fixtures.js';
import { page, textOf, urlOf } from './content-pages.js';

const WORKER = fileURLToPath(new URL('../fault/ship-worker.mjs', import.meta.url));
/** One page whose segment is sent in parts. */
const LARGE = 99;
const largeText = randomBytes(9 * 1024 * 1024).toString('base64');

let s3: Awaited<ReturnType<typeof startS3>>;
const ACCOUNT = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_REGION: 'eu-north-1' };

/** Pages 1 … `count` in finished segments; resolves to the notes that a queue would have. */
async function stored(dataDirs: readonly string[], count: number, hasLarge = false): Promise<Record<string, string>> {
  const notes: Record<string, string> = {};
  const content = await ContentStore.open({ dataDirs, storeRawHtml: true, segmentBytes: 20_000 });
  for (let first = 1; first <= count; first += 10) {
    const packed = [];
    for (let n = first; n < first + 10 && n <= count; n++) packed.push(await content.pack(page(n)));
    for (const { writer } of (await content.append(packed)).written) notes[writer.key] = writer.note;
  }
  if (hasLarge) {
    const packed = await content.pack(page(LARGE, { text: largeText, response: undefined }));
    for (const { writer } of (await content.append([packed])).written) notes[writer.key] = writer.note;
  }
  await content.close();
  return notes;
}

async function filesIn(dataDirs: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(dataDirs.map((dir) => readdir(join(dir, 'content'))));
  return lists.flat().sort();
}

async function expectPages(url: string, count: number, step = 1): Promise<void> {
  for (let n = 1; n <= count; n += step) {
    const found = await findPage([url], urlOf(n));
    expect(found).toMatchObject({ url: urlOf(n), text: textOf(n) });
    expect(found?.response?.body.equals(page(n).response!.body)).toBe(true);
  }
}

async function shipAll(url: string, dataDirs: readonly string[]): Promise<void> {
  const objects = await openObjects(url);
  try {
    const shipping = createShipping(dataDirs, objects);
    await shipping.begin();
    await shipping.ship();
  } finally {
    objects.close();
  }
}

describe('content in an object store', () => {
  beforeAll(async () => {
    s3 = await startS3();
    s3.bucket('crawl');
    for (const [name, value] of Object.entries(ACCOUNT)) vi.stubEnv(name, value);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', s3.endpoint);
  });
  afterEach(() => s3.fail(() => undefined));
  afterAll(async () => {
    vi.unstubAllEnvs();
    await s3.close();
  });

  it('moves finished segments there, in parts where they are large, and reads ranges of them', async () => {
    const dataDirs = await folders(2);
    const notes = await stored(dataDirs, 60, true);
    const before = await filesIn(dataDirs);
    const url = 's3://crawl/whole';
    await shipAll(url, dataDirs);
    expect(await filesIn(dataDirs)).toEqual([]);
    const names = [...s3.bucket('crawl').keys()].filter((key) => key.startsWith('whole/'));
    expect(names.sort()).toEqual(before.map((name) => `whole/${name}`));
    expect(s3.seen.some(({ query }) => query.get('partNumber') === '2')).toBe(true);
    await expectPages(url, 60, 7);
    expect((await findPage([url], urlOf(LARGE)))?.text).toBe(largeText);

    // A recovery takes what was moved for whole; without knowing, it would be lost.
    const objects = await openObjects(url);
    const shipping = createShipping(dataDirs, objects);
    await shipping.begin();
    objects.close();
    const options = { notes, isWriterGone: () => true, warn: () => undefined };
    expect(await recoverContent(dataDirs, { ...options, isElsewhere: shipping.isThere })).toEqual([]);
    const lost = await recoverContent(dataDirs, options);
    expect(lost).toHaveLength(Object.keys(notes).length);
    expect(lost.every(({ outcome }) => outcome === 'missing')).toBe(true);
  });

  it('leaves segments alone that are still written, and the fates of URLs', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const content = await ContentStore.open({ dataDirs: [dataDir], note: async () => undefined, notes: {} });
    await content.append([await content.pack(page(1))]);
    const before = await filesIn([dataDir]);
    expect(before).toHaveLength(2);
    await shipAll('s3://crawl/written', [dataDir]);
    expect(await filesIn([dataDir])).toEqual(before);
    await content.close();
  });

  it(
    'gets every page there once through refusals, cut connections and half uploads',
    { timeout: 600_000 },
    async () => {
      const dataDirs = await folders(2);
      await stored(dataDirs, 40, true);
      const before = await filesIn(dataDirs);
      const troubles: Trouble[] = [
        { status: 503, code: 'SlowDown' },
        'cut-before',
        { status: 500, code: 'InternalError' },
        'cut-amid',
        'cut-after',
        { status: 503, code: 'ServiceUnavailable' },
      ];
      let count = 0;
      s3.fail(({ method }) => (++count % 3 === 0 && method !== 'GET' ? troubles[(count / 3) % 6] : undefined));
      const url = 's3://crawl/troubled';
      // What the client gives up is tried again, as the loop of a run does.
      for (let attempt = 1; attempt <= 20; attempt++) {
        const isDone = await shipAll(url, dataDirs).then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject({ code: 'OBJECT_STORE_FAILED' });
            return false;
          },
        );
        if (isDone) break;
      }
      s3.fail(() => undefined);
      expect(count).toBeGreaterThan(30);
      expect(await filesIn(dataDirs)).toEqual([]);
      const names = [...s3.bucket('crawl').keys()].filter((key) => key.startsWith('troubled/'));
      expect(names.sort()).toEqual(before.map((name) => `troubled/${name}`));
      expect(s3.unfinished).toBe(0);
      await expectPages(url, 40, 5);
      expect((await findPage([url], urlOf(LARGE)))?.text).toBe(largeText);
    },
  );

  it('keeps everything here when the bucket is gone, and says so', async () => {
    const dataDirs = await folders(1);
    await stored(dataDirs, 10);
    const before = await filesIn(dataDirs);
    await expect(shipAll('s3://nowhere/x', dataDirs)).rejects.toMatchObject({
      code: 'OBJECT_STORE_FAILED',
      message: expect.stringContaining('NoSuchBucket') as string,
    });
    expect(await filesIn(dataDirs)).toEqual(before);
  });

  it('loses nothing and has nothing twice when it is killed between any two steps', { timeout: 600_000 }, async () => {
    const points = KILL_POINTS.filter((point) => point.startsWith('ship.'));
    expect(points.length).toBeGreaterThan(6);
    // At once: most of their time is the start of a process.
    await Promise.all(points.map(killedAt));
    expect(s3.unfinished).toBe(0);
  });

  async function killedAt(point: string): Promise<void> {
    const dataDirs = await folders(1);
    await stored(dataDirs, 20, point === 'ship.amid-upload');
    const before = await filesIn(dataDirs);
    const prefix = point.replace('.', '-');
    const url = `s3://crawl/${prefix}`;
    const env = { ...process.env, ORCRAWL_KILL_AT: `${point}:1` };
    const child = spawn(process.execPath, [WORKER, url, ...dataDirs], { env, stdio: 'ignore' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect([point, signal]).toEqual([point, 'SIGKILL']);
    // The next run of the crawl.
    await shipAll(url, dataDirs);
    expect([point, ...(await filesIn(dataDirs))]).toEqual([point]);
    const names = [...s3.bucket('crawl').keys()].filter((key) => key.startsWith(`${prefix}/`)).sort();
    expect([point, ...names]).toEqual([point, ...before.map((name) => `${prefix}/${name}`)]);
    for (const name of names) expect([point, name, s3.writes.get(name)]).toEqual([point, name, 1]);
    await expectPages(url, 20, 9);
  }

  it("takes credentials from a profile in the files of AWS' tools", async () => {
    const home = await mkdtemp(join(tmpdir(), 'orcrawl-aws-'));
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_REGION: region } = ACCOUNT;
    await writeFile(join(home, 'credentials'), `[crawls]\naws_access_key_id=${id}\naws_secret_access_key=${secret}\n`);
    await writeFile(join(home, 'config'), `[profile crawls]\nregion=${region}\n`);
    for (const name of Object.keys(ACCOUNT)) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(home, 'credentials'));
    vi.stubEnv('AWS_CONFIG_FILE', join(home, 'config'));
    // No machine here has a role.
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    try {
      vi.stubEnv('AWS_PROFILE', 'crawls');
      const check = async () => {
        const objects = await openObjects('s3://crawl/profile');
        await objects.check().finally(() => objects.close());
      };
      await check();
      vi.stubEnv('AWS_PROFILE', 'nobody');
      await expect(check()).rejects.toMatchObject({ code: 'OBJECT_STORE_FAILED' });
    } finally {
      for (const name of ['AWS_PROFILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE']) vi.stubEnv(name, undefined);
      for (const [name, value] of Object.entries(ACCOUNT)) vi.stubEnv(name, value);
      await rm(home, { recursive: true, force: true });
    }
  });

  it('works with another server of the protocol', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'orcrawl-s3rver-'));
    const configureBuckets = [{ name: 'other', configs: [] }];
    const other = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets });
    const { port } = await other.run();
    vi.stubEnv('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${port}`);
    try {
      const dataDirs = await folders(1);
      await stored(dataDirs, 20, true);
      await shipAll('s3://other/crawl', dataDirs);
      expect(await filesIn(dataDirs)).toEqual([]);
      await expectPages('s3://other/crawl', 20, 6);
      expect((await findPage(['s3://other/crawl'], urlOf(LARGE)))?.text).toBe(largeText);
    } finally {
      vi.stubEnv('AWS_ENDPOINT_URL_S3', s3.endpoint);
      await other.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
