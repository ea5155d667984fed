import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PodsConfig, PodsConfigError, type PodsFlags, readPodsConfig } from '../../src/pods/config/config.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orcrawl-config-'));
  await writeFile(join(folder, 'seeds.txt'), 'example.com\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function read(yaml: string | undefined, flags: PodsFlags = {}): Promise<PodsConfig> {
  const file = join(folder, 'crawl.yaml');
  if (yaml !== undefined) await writeFile(file, yaml);
  return readPodsConfig(yaml === undefined ? undefined : file, flags, { workingDir: folder });
}

async function problemsOf(yaml: string | undefined, flags: PodsFlags = {}): Promise<readonly string[]> {
  const error = await read(yaml, flags).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PodsConfigError);
  return (error as PodsConfigError).problems;
}

const own = { kind: 'redis', prefix: '' };
const GOOD = 'email: you@example.com\nseed_file: seeds.txt\n';

describe('a pods configuration', () => {
  it('has the defaults of the specification, absolute paths, and cannot be changed', async () => {
    const config = await read(`${GOOD}pods:\n  - redis_url: redis://localhost:6379\ndata_dirs: [./a, /tmp/b]\n`);
    expect(config).toMatchObject({
      pods: [{ kind: 'redis', redisUrl: 'redis://localhost:6379/0', where: 'redis://localhost:6379/0', prefix: '' }],
      ownPods: [0],
      dataDirs: [join(folder, 'a'), '/tmp/b'],
      logDir: join(folder, 'a/logs'),
      stateDir: join(folder, 'a/state'),
      seedFile: join(folder, 'seeds.txt'),
      fetchersPerPod: 6,
      parsersPerPod: 0,
      politenessDelaySeconds: 70,
      userAgent: 'orcrawl (you@example.com)',
      fetcherMemoryLimit: 2 * 1024 ** 3,
      parserMemoryLimit: 4 * 1024 ** 3,
      maxPages: undefined,
      resume: false,
      fresh: false,
    });
    expect(Object.isFrozen(config) && Object.isFrozen(config.pods) && Object.isFrozen(config.dataDirs)).toBe(true);
  });

  it('spreads pods over a cluster, or names the master of Sentinels', async () => {
    const { pods } = await read(
      `${GOOD}pod_count: 2\ncluster: { nodes: [rediss://a:7000, rediss://b:7000], prefix: mine }\n` +
        'redis_username: crawler\nredis_password_file: secret\nredis_tls_ca_file: /ca.pem\ndurability: replicated\n',
    );
    const url = `rediss+cluster://a:7000,b:7000?username=crawler&password_file=${encodeURIComponent(join(folder, 'secret'))}&ca=%2Fca.pem`;
    const where = 'rediss+cluster://a:7000,b:7000';
    expect(pods).toEqual([
      { kind: 'redis', redisUrl: url, where, prefix: expect.stringMatching(/^\{mine:0\.\d+\}:$/) as string },
      { kind: 'redis', redisUrl: url, where, prefix: expect.stringMatching(/^\{mine:1\.\d+\}:$/) as string },
    ]);
    const watched = await read(`${GOOD}sentinel: { name: main, nodes: [a, "redis://:pw@b:5000"] }\nredis_db: 2\n`);
    expect(watched.pods).toMatchObject([
      {
        redisUrl: 'redis+sentinel://a:26379,b:5000/main/2?password=pw',
        where: 'redis+sentinel://a:26379,b:5000/main/2',
      },
    ]);
    expect((await read(`${GOOD}pod_count: 3\n`)).pods.map(({ kind }) => kind)).toEqual(Array(3).fill('embedded'));
  });

  it('says what does not fit a cluster', async () => {
    expect(
      await problemsOf(
        `${GOOD}pods: [redis://a]\ncluster: { nodes: ["ftp://user:secret@a"] , name: x }\npod_count: 2\nredis_db: 1\n` +
          'redis_password: a\nredis_password_file: b\nredis_tls_cert_file: c\n',
      ),
    ).toEqual([
      'unknown key cluster.name',
      'pods and cluster contradict each other: name the stores once',
      'pod_count works only with cluster, sentinel or embedded pods: a pods list has its own length',
      'redis_password and redis_password_file contradict each other: keep the file',
      'redis_tls_cert_file and redis_tls_key_file belong together: give both or none',
    ]);
    expect(await problemsOf(`${GOOD}cluster: { nodes: ["ftp://user:secret@a"] }\nredis_db: 1\n`)).toEqual([
      'cluster.nodes[0] must be an address such as redis://10.0.0.1:6379, got "ftp://a/"',
    ]);
    expect(await problemsOf(`${GOOD}sentinel: { nodes: [a] }\n`)).toEqual(['sentinel.name is missing']);
    expect(await problemsOf(`${GOOD}durability: replicated\n`)).toEqual([
      'durability: replicated needs pods in Redis: an embedded pod has no replica, use machine',
    ]);
  });

  it('says why pods have no "enough", and what to use', async () => {
    const [problem, ...more] = await problemsOf(`${GOOD}query: refund\nenough: true\n`);
    expect([problem, more]).toEqual([expect.stringMatching(/^unknown key enough: .*max_pages/), []]);
  });

  it('accepts pods as plain text: addresses, Unix sockets and folders', async () => {
    const redis = await read(
      `${GOOD}redis_db: 2\nredis_password: "p w"\npods: [redis://localhost:6379, "localhost:6380", "unix:///run/redis.sock", "unix:///run/b.sock?db=1"]\n`,
    );
    expect(redis.pods).toEqual([
      { ...own, redisUrl: 'redis://localhost:6379/2?password=p+w', where: 'redis://localhost:6379/2' },
      { ...own, redisUrl: 'redis://localhost:6380/2?password=p+w', where: 'redis://localhost:6380/2' },
      { ...own, redisUrl: 'unix:///run/redis.sock?password=p+w&db=2', where: 'unix:///run/redis.sock?db=2' },
      { ...own, redisUrl: 'unix:///run/b.sock?password=p+w&db=1', where: 'unix:///run/b.sock?db=1' },
    ]);
    const embedded = await read(`${GOOD}pods: [./pod0, ./pod1]\n`);
    expect(embedded.pods).toEqual([
      { kind: 'embedded', path: join(folder, 'pod0') },
      { kind: 'embedded', path: join(folder, 'pod1') },
    ]);
    for (const bad of ['unix://host/run.sock', 'unix:', 'unix:///x?db=a', 'unix:///x?nope=1', 'http://localhost']) {
      expect(await problemsOf(`${GOOD}pods: ["${bad}"]\n`)).toEqual([
        expect.stringContaining('unix:///run/redis.sock'),
      ]);
    }
  });

  it('knows which keys were given, and needs neither e-mail nor seeds to look at a crawl', async () => {
    const config = await read(`${GOOD}bloom_filter_capacity: 1000\nadditionalMimeTypes: [application/pdf]\n`, {
      logDir: 'elsewhere',
      maxPages: 3,
    });
    expect([...config.givenKeys].sort()).toEqual([
      'additional_mime_types',
      'bloom_filter_capacity',
      'email',
      'log_dir',
      'max_pages',
      'seed_file',
    ]);
    expect(config).toMatchObject({ logDir: join(folder, 'elsewhere'), additionalMimeTypes: ['application/pdf'] });
    await writeFile(join(folder, 'bare.yaml'), 'pods: [./pod0]\n');
    await expect(readPodsConfig(join(folder, 'bare.yaml'))).rejects.toThrow(/email is missing.*seeds are missing/);
    expect((await readPodsConfig(join(folder, 'bare.yaml'), {}, { isToRun: false })).pods).toHaveLength(1);
  });

  it('may be written in camelCase, and null stands for the default', async () => {
    const config = await read(
      `${GOOD}fetcherWorkers: 20\nmaxPages: 1e6\npolitenessDelaySeconds: 0.5\nfetchersPerPod: null\nextractText: main\n` +
        'skipExtensions: [.PDF]\nfetcherMemoryLimit: 512M',
    );
    expect(config).toMatchObject({
      fetcherWorkers: 20,
      maxPages: 1_000_000,
      politenessDelaySeconds: 0.5,
      extractText: 'main',
      skipExtensions: ['pdf'],
      fetcherMemoryLimit: 512 * 1024 ** 2,
    });
  });

  it('lets flags win over test_mode, and test_mode over the rest', async () => {
    const pods = Array.from({ length: 6 }, (_, i) => `  - redis_url: redis://localhost:${6400 + i}\n`).join('');
    const yaml =
      `${GOOD}pods:\n${pods}data_dirs: [./a]\nmax_pages: 5\nlog_level: DEBUG\n` +
      'test_mode: { enabled: true, fetchers_per_pod: 3 }';
    const tested = await read(yaml);
    expect(tested).toMatchObject({ fetchersPerPod: 3, parsersPerPod: 1, maxPages: 5, logLevel: 'DEBUG' });
    expect(tested.pods).toHaveLength(4);
    expect(tested.dataDirs).toEqual([join(folder, 'test_data/ssd1'), join(folder, 'test_data/ssd2')]);
    await mkdir(join(folder, 'elsewhere'));
    const flagged = await read(yaml, {
      overrideNumPods: 2,
      overrideFetchersPerPod: 1,
      dataDir: ['elsewhere'],
      maxPages: 9,
      logLevel: 'warning',
      pods: '1',
    });
    expect(flagged).toMatchObject({ fetchersPerPod: 1, parsersPerPod: 1, maxPages: 9, logLevel: 'WARNING' });
    expect(flagged.pods).toHaveLength(2);
    expect(flagged.ownPods).toEqual([1]);
    expect(flagged.dataDirs).toEqual([join(folder, 'elsewhere')]);
  });

  it('takes one Redis by flags alone', async () => {
    const config = await read(undefined, {
      email: 'you@example.com',
      seedFile: 'seeds.txt',
      redisHost: '::1',
      redisPort: 7000,
      redisDb: 2,
      redisPassword: 'a/b@c',
      numFetcherProcesses: 3,
      numParserProcesses: 1,
    });
    expect(config.pods).toEqual([
      { ...own, redisUrl: 'redis://[::1]:7000/2?password=a%2Fb%40c', where: 'redis://[::1]:7000/2' },
    ]);
    expect(config).toMatchObject({ fetchersPerPod: 3, parsersPerPod: 1 });
  });

  it('gives database and password to the stores that have none of their own', async () => {
    const config = await read(
      `${GOOD}redis_db: 3\nredis_password: secret\npods:\n  - redis_url: redis://a\n  - redis_url: redis://u:own@b:1/7\n`,
    );
    expect(config.pods).toMatchObject([
      { redisUrl: 'redis://a:6379/3?password=secret', where: 'redis://a:6379/3' },
      { redisUrl: 'redis://b:1/7?username=u&password=own', where: 'redis://b:1/7' },
    ]);
  });

  it('uses one embedded pod under the data directory when no store is named', async () => {
    const config = await read(`${GOOD}data_dirs: [./data]\n`);
    expect(config.pods).toEqual([{ kind: 'embedded', path: join(folder, 'data/pod_0') }]);
    expect(config.fetchersPerPod).toBe(1);
    const tested = await read(`${GOOD}test_mode: { enabled: true, num_pods: 3 }\n`);
    expect(tested.pods).toHaveLength(3);
    expect(tested).toMatchObject({ fetchersPerPod: 1, parsersPerPod: 0 });
  });

  it('needs no seeds to resume', async () => {
    expect((await read('email: you@example.com\nresume: true\n')).seedFile).toBeUndefined();
  });

  it('leaves nothing behind', async () => {
    await read(`${GOOD}data_dirs: [./data/deep]\n`);
    expect((await readdir(folder)).sort()).toEqual(['crawl.yaml', 'seeds.txt']);
  });
});

describe('a wrong pods configuration', () => {
  it('is refused with everything that is wrong, by name', async () => {
    await writeFile(join(folder, 'file'), '');
    const problems = await problemsOf(
      [
        'pods: [{ redis_url: "http://localhost" }, { path: a, redis_url: "redis://b" }, {}, { redis_urls: "redis://c" }]',
        'data_dirs: [./file/inside]',
        'fetchers_per_pods: 3',
        'fetcherWorker: 3',
        'max_pages: many',
        'maxDuration: -1',
        'http_timeout_seconds: 3',
        'httpTimeoutSeconds: 3',
        'extract_text: maybe',
        'user_agent_template: Mine/1.0',
        'parse_queue_soft_limit: 90000',
        'fetcher_memory_limit: lots',
        'exclude_file: nowhere.txt',
        'test_mode: { enabled: yes please }',
      ].join('\n'),
    );
    const expected = [
      /^unknown key pods\[3\]\.redis_urls, did you mean redis_url\?$/,
      /^unknown key fetchers_per_pods, did you mean fetchers_per_pod\?$/,
      /^unknown key fetcherWorker, did you mean fetcherWorkers\?$/,
      /^max_pages must be a whole number from 1, got "many"$/,
      /^maxDuration must be a number above 0, got -1$/,
      /^http_timeout_seconds is given twice, as http_timeout_seconds and as httpTimeoutSeconds$/,
      /^extract_text must be true or false or one of "main", got "maybe"$/,
      /^fetcher_memory_limit must be a size such as "2G", "512M" or a number of bytes, got "lots"$/,
      /^test_mode\.enabled must be true or false, got "yes please"$/,
      /^pods\[0\]\.redis_url must be an address such as redis:\/\/localhost:6379 or unix:\/\/\/run\/redis.sock, got "http:\/\/localhost\/"$/,
      /^pods\[1\] has both redis_url and path/,
      /^pods\[2\] must name its store: redis_url or path$/,
      /^email is missing/,
      /^seeds are missing/,
      /^user_agent_template must contain \{email\}/,
      /^parse_queue_soft_limit must be below parse_queue_hard_limit$/,
      /^data_dirs: ".*\/file\/inside" is not writable: a part of it is not a folder$/,
      /^exclude_file: ".*\/nowhere.txt" cannot be read: file not found$/,
    ];
    for (const pattern of expected) expect(problems).toContainEqual(expect.stringMatching(pattern));
    expect(problems).toHaveLength(expected.length);
  });

  it.each([
    ['pods: [{ path: a }, { redis_url: "redis://a" }]', /mixes redis_url and path/],
    [
      'pods: [{ redis_url: "redis://localhost" }, { redis_url: "redis://127.0.0.1:6379/0" }]',
      /same store as pods\[0\]/,
    ],
    ['pods: [{ path: a }]\nfetchers_per_pod: 2', /^fetchers_per_pod must be 1 with embedded pods, got 2/],
    ['pods: [{ path: a }]\nparsers_per_pod: 1', /^parsers_per_pod must be 0 with embedded pods/],
    [
      'pods: [{ path: a }]\nglobal_coordination_redis_pod: 1',
      /^global_coordination_redis_pod is 1, but the last pod is 0/,
    ],
    ['pods: [{ path: a }]\ntest_mode: { enabled: true, num_pods: 2 }', /^test_mode.num_pods is 2, but only one pod is/],
    [
      'pods: [{ redis_url: "redis://a" }, { redis_url: "redis://b" }]\nfetchers_per_pod: 4\nredis_max_connections: 11',
      /^redis_max_connections is 11, but 2 pods of 4 fetchers and 0 parsers need up to 12 connections to one Redis$/,
    ],
    ['lease_seconds: 10', /^lease_seconds must be a number of seconds above 10, which a request may wait for its conn/],
    ['email: "you at example"', /^email must be an e-mail address/],
    ['seed_file: 7', /^seed_file must be a non-empty string, got 7/],
  ])('says what contradicts itself: %s', async (yaml, reason) => {
    const own = yaml.split(':')[0]!;
    const rest = GOOD.split('\n')
      .filter((line) => !line.startsWith(own))
      .join('\n');
    expect(await problemsOf(`${rest}\n${yaml}\n`)).toEqual([expect.stringMatching(reason)]);
  });

  it.each<[PodsFlags, RegExp]>([
    [{ pods: '0-1' }, /^--pods: pod 1 does not exist/],
    [{ maxPages: 0 }, /^--max-pages must be a whole number from 1, got 0$/],
    [{ logLevel: 'loud' }, /^--log-level must be one of/],
    [{ overrideNumPods: 0 }, /^--override-num-pods must be/],
    [{ email: 'nobody' }, /^--email must be an e-mail address/],
    [{ fresh: true, resume: true }, /^--fresh and resume contradict each other/],
    [{ seedFile: 'gone.txt' }, /^seed_file: .* file not found/],
  ])('says which flag is wrong: %o', async (flags, reason) => {
    expect(await problemsOf(GOOD, flags)).toEqual([expect.stringMatching(reason)]);
  });

  it('is refused for its YAML alone when that cannot be read', async () => {
    expect(await problemsOf('email: [')).toEqual([expect.stringMatching(/crawl.yaml is not valid YAML: .* line 1/)]);
    expect(await problemsOf('- a\n')).toEqual([expect.stringMatching(/must hold keys with values/)]);
    expect(await problemsOf('a: 1\na: 2\n')).toEqual([expect.stringMatching(/not valid YAML: .*unique/)]);
    const bomb = [
      'a: &a [1,1,1,1,1,1,1,1,1]',
      ...Array.from({ length: 9 }, (_, i) => {
        const [from, to] = [String.fromCharCode(97 + i), String.fromCharCode(98 + i)];
        return `${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`;
      }),
    ].join('\n');
    expect(await problemsOf(bomb)).toEqual([expect.stringMatching(/not valid YAML: Excessive alias count/)]);
    expect(await problemsOf('pods: &p [*p]\n')).toEqual([
      expect.stringMatching(/an alias stands within what it names/),
    ]);
    const deep = `pods: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`;
    expect(await problemsOf(deep)).toEqual([expect.stringMatching(/not valid YAML: it is nested too deeply/)]);
  });

  it('is refused in time however many keys it has, also those within others', async () => {
    const keys = Array.from({ length: 30_000 }, (_, at) => `  k${at}: 1\n`).join('');
    const before = process.cpuUsage();
    expect(await problemsOf(`${GOOD}\nwatch:\n${keys}`)).not.toEqual([]);
    // Comparing each with each took half a minute.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(12);
  });

  it('tells a file that is not there', async () => {
    await expect(readPodsConfig(join(folder, 'gone.yaml'))).rejects.toThrow(
      /gone\.yaml cannot be read: file not found/,
    );
  });
});
