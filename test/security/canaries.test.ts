// Canary secrets in every place where a user can put one, and a look for them everywhere else: on every other origin, in
// every file, log and report, in the list of processes, in metrics and on the screen. None is found.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAIN, startNode, until } from '../integration/cli-process.js';
import { shellPath } from '../support/browser.js';
import { freePort, redisMissing, startRedis } from '../support/redis-server.js';
import { endedAt, LOOPBACK, startServe } from '../support/serve.js';
import { startWeb, watched } from './canary-run.js';
import { canariesIn, canaryFiles, canaryProcesses, leaks } from './canary-web.js';

const SCRIPT = fileURLToPath(new URL('./secretive-script.mjs', import.meta.url));

describe('canary secrets', () => {
  it('of a crawl of the command line reach home and nothing else', async () => {
    const { web, cwd, env } = await startWeb();
    const login = web.home.replace('://', '://alice:canary-urlpassword@');
    const headers = ['-H', 'x-api-key: canary-header', '-H', 'cookie: own=canary-cookie'];
    const rest = ['--strategy', 'all', '--allow-private', '--delay', '0', '--retries', '0', '--verbose', '--links'];
    const args = ['crawl', `${login}/`, ...headers, ...rest, '--explain-skips', '--max-pages', '60', '--out', 'out'];
    const { shown, listed } = await watched(startNode([MAIN, ...args], { cwd, env }));
    expect(canariesIn(web.heardAtHome.join('\n'))).toEqual(['canary-cookie', 'canary-header', 'canary-urlpassword']);
    expect(web.heardElsewhere.length).toBeGreaterThan(10);
    expect(leaks(web)).toEqual([]);
    expect(canariesIn(shown)).toEqual([]);
    // The cookies of sessions are kept for a resumed crawl, for their owner alone.
    const [sessions, ...more] = canaryFiles(cwd);
    expect(sessions).toMatchObject({
      path: expect.stringContaining('SESSION'),
      mode: '600',
      canaries: ['canary-session'],
    });
    expect(more).toEqual([]);
    expect(listed).toEqual([]);
  });

  it('of scrape and batch reach home and nothing else', async () => {
    const { web, cwd, env } = await startWeb();
    const login = web.home.replace('://', '://alice:canary-urlpassword@');
    const shown: string[] = [];
    for (const path of ['/', '/moved/302/0', '/moved/307/1', '/moved/302/2']) {
      const args = [
        'scrape',
        `${login}${path}`,
        '-H',
        'x-api-key: canary-header',
        '--allow-private',
        '--format',
        'json',
      ];
      const ended = await startNode([MAIN, ...args, '--cache', 'enabled'], { cwd, env }).ended;
      shown.push(ended.stdout, ended.stderr);
    }
    writeFileSync(join(cwd, '..', 'urls.txt'), `${login}/\n${login}/moved/307/0\n${login}/broken\n`);
    const batch = ['batch', '../urls.txt', '--allow-private', '--out', 'results.jsonl', '--monitor', 'detailed'];
    const ended = await startNode([MAIN, ...batch, '--fields', 'url,loadedUrl,success,links,markdown,headers'], {
      cwd,
      env,
    }).ended;
    shown.push(ended.stdout, ended.stderr);
    expect(canariesIn(web.heardAtHome.join('\n'))).toEqual(['canary-header', 'canary-urlpassword']);
    expect(web.heardElsewhere.length).toBeGreaterThan(3);
    expect(leaks(web)).toEqual([]);
    // The answer of home sets a cookie; who asks for the headers of answers is shown it.
    expect(canariesIn(shown.join('\n')).filter((one) => one !== 'canary-session')).toEqual([]);
    const files = canaryFiles(cwd).filter(({ canaries }) => canaries.some((one) => one !== 'canary-session'));
    expect(files).toEqual([]);
    expect(canaryFiles(join(cwd, 'storage')).filter(({ mode }) => mode !== '600')).toEqual([]);
  });

  it('of a script, its sessions, its proxy and its browser reach home and nothing else', async () => {
    const { web, cwd, env } = await startWeb();
    const all = {
      ...env,
      HOME: web.home,
      STRANGERS: web.strangers.join(' '),
      PROXY: web.proxy,
      BROWSER: shellPath ?? '',
      STORAGE: join(cwd, 'storage'),
      CRAWLEE_LOG_LEVEL: 'DEBUG',
    };
    const { shown, code, listed } = await watched(startNode([SCRIPT], { cwd, env: all }));
    expect({ code, end: code === 0 ? '' : shown.slice(-2_000) }).toEqual({ code: 0, end: '' });
    const known = ['canary-apikey', 'canary-cookie', 'canary-header', 'canary-payload', 'canary-session'];
    expect(canariesIn(web.heardAtHome.join('\n'))).toEqual([...known, 'canary-urlpassword']);
    expect(canariesIn(web.heardByProxy.join('\n'))).toEqual(['canary-proxy']);
    expect(web.heardByProxy.filter((told) => /^authorization$/im.test(told))).toEqual([]);
    expect(web.heardElsewhere.length).toBeGreaterThan(20);
    expect(leaks(web)).toEqual([]);
    expect(canariesIn(shown)).toEqual([]);
    expect(listed).toEqual([]);
    // What a queue and its sessions must keep is their owner's alone (SECURITY.md).
    const files = canaryFiles(cwd);
    expect(files.filter(({ mode }) => mode !== '600')).toEqual([]);
    expect(
      files.filter(({ path }) => !/^storage(?:-browser)?\/(?:request_queues|key_value_stores)\//.test(path)),
    ).toEqual([]);
  });

  it('of a server and its clients reach home and nothing else, and its tokens are in no log', async () => {
    const { web, cwd, env } = await startWeb();
    const dataDir = join(cwd, 'server');
    mkdirSync(dataDir);
    const tokens = 'tokens:\n  - { name: team, token: canary-token-of-the-team }\n';
    writeFileSync(join(dataDir, 'tokens.yaml'), tokens, { mode: 0o600 });
    const flags = [...LOOPBACK, '--llm-url', `${web.home}/v1`, '--llm-model', 'm', '--llm-key-env', 'KEY_OF_MODEL'];
    const server = await startServe(dataDir, flags, { ...env, KEY_OF_MODEL: 'canary-modelkey' });
    const authorization = 'Bearer canary-token-of-the-team';
    const answers: string[] = [];
    const ask = async (method: string, where: string, body?: unknown) => {
      const answer = await server.ask(method, where, body, { authorization });
      answers.push(answer.text);
      return answer;
    };
    const login = web.home.replace('://', '://alice:canary-urlpassword@');
    const headers = { 'x-api-key': 'canary-header', cookie: 'own=canary-cookie' };
    for (const at of ['/', '/moved/302/0', '/moved/307/1']) {
      await ask('POST', '/v2/scrape', { url: `${web.home}${at}`, headers });
    }
    await ask('POST', '/v2/scrape', { url: `${login}/` });
    await ask('POST', '/v2/scrape', { url: `${web.home}/`, formats: ['summary'] });
    await ask('GET', `/v2/crawl/active?key=canary-query`);
    const hookUrl = `${web.home}/hook/canary-hookpath?key=canary-hookquery`;
    const hook = { url: hookUrl, headers: { authorization: 'canary-hook' } };
    const options = {
      allowExternalLinks: true,
      limit: 40,
      webhook: hook,
      scrapeOptions: { headers, formats: ['links'] },
    };
    const crawl = await ask('POST', '/v2/crawl', { url: `${web.home}/`, ...options });
    const batch = await ask('POST', '/v2/batch/scrape', { urls: [`${web.home}/moved/302/2`], headers, webhook: hook });
    await endedAt(server, `/v2/crawl/${crawl.json.id}`);
    await endedAt(server, `/v2/batch/scrape/${batch.json.id}`);
    await until(() => canariesIn(web.heardAtHome.join('\n')).includes('canary-hook'), 'the webhook came');
    const metrics = await server.ask('GET', '/metrics');
    const listed = canaryProcesses();
    const { stdout, stderr } = await server.stop();

    const hooks = ['canary-hook', 'canary-hookpath', 'canary-hookquery'];
    const known = ['canary-cookie', 'canary-header', ...hooks, 'canary-modelkey', 'canary-urlpassword'];
    expect(canariesIn(web.heardAtHome.join('\n'))).toEqual(known);
    expect(web.heardElsewhere.length).toBeGreaterThan(5);
    expect(leaks(web)).toEqual([]);
    expect(canariesIn(stdout + stderr + metrics.text)).toEqual([]);
    // The token that the server made is shown once, at its first start.
    expect((stdout + stderr).split(server.token)).toHaveLength(2);
    expect(answers.flatMap(canariesIn).filter((one) => one !== 'canary-session')).toEqual([]);
    expect(listed).toEqual([]);
    // Jobs keep what their pages and webhooks are asked with, for the owner of the folder alone.
    const files = canaryFiles(cwd);
    const open = files.filter(({ mode, path }) => mode !== '600' && !path.startsWith('server/jobs/'));
    expect(open).toEqual([]);
    expect(statSync(join(dataDir, 'jobs')).mode & 0o77).toBe(0);
    expect(files.flatMap(({ canaries }) => canaries)).not.toContain('canary-modelkey');
  });

  it.skipIf(redisMissing !== undefined)('of a crawl on pods are in no log, file, metric or list', async () => {
    const { web, cwd, env } = await startWeb();
    const redis = await startRedis(['--requirepass', 'canary-redis']);
    onTestFinished(() => redis.dispose());
    const metricsPort = await freePort();
    const redisUrl = redis.url.replace('://', '://:canary-redis@');
    const yaml = [
      `pods: [{ redis_url: '${redisUrl}' }]`,
      'data_dirs: [data]',
      'fetchers_per_pod: 1',
      'parsers_per_pod: 1',
      'enable_cpu_affinity: false',
      'politeness_delay_seconds: 0',
      'email: test@example.com',
      'seed_file: seeds.txt',
      'handler: ./handler.mjs',
      'allow_private_addresses: true',
      'max_pages: 40',
      'enable_prometheus: true',
      `prometheus_port: ${metricsPort}`,
    ];
    mkdirSync(join(cwd, 'crawl'));
    const settings = join(cwd, '..', 'settings');
    mkdirSync(settings);
    writeFileSync(join(settings, 'crawl.yaml'), yaml.map((line) => line.replace('[data]', `[${cwd}/data]`)).join('\n'));
    const bad = `${web.home.replace('://', '://alice:canary-urlpassword@')}/${'x'.repeat(80)}`;
    writeFileSync(join(settings, 'seeds.txt'), `${web.strangers[0]}/\n${web.strangers[1]}/\n${web.home}/\n${bad}\n`);
    writeFileSync(
      join(settings, 'handler.mjs'),
      `import { createCheerioRouter } from '${fileURLToPath(new URL('../../dist/index.js', import.meta.url))}';
      export const router = createCheerioRouter();
      router.addDefaultHandler(async ({ request, addRequests, enqueueLinks, log }) => {
        await enqueueLinks({ strategy: 'all', userData: { token: 'canary-userdata' } });
        const headers = { authorization: 'Bearer canary-header' };
        await addRequests([{ url: '${web.home}/moved/302/0', headers }, { url: '${web.home}/broken', headers }]);
        log.info('Done with ' + request.url);
      });`,
    );
    const check = await startNode([MAIN, 'config', 'check', join(settings, 'crawl.yaml')], { cwd, env }).ended;
    expect({ code: check.code, shown: canariesIn(check.stdout + check.stderr) }).toEqual({ code: 0, shown: [] });
    const started = startNode([MAIN, 'run', '--config', join(settings, 'crawl.yaml')], { cwd, env });
    let metrics = '';
    const asking = setInterval(() => {
      fetch(`http://127.0.0.1:${metricsPort}/metrics`)
        .then(async (answer) => (metrics += await answer.text()))
        .catch(() => undefined);
    }, 200);
    onTestFinished(() => clearInterval(asking));
    const { shown, listed, code } = await watched(started);
    expect({ code, end: code === 0 || code === 2 ? '' : shown.slice(-2_000) }).toMatchObject({ end: '' });
    expect(web.heardElsewhere.length).toBeGreaterThan(2);
    expect(leaks(web)).toEqual([]);
    expect(metrics).toContain('orcrawl_');
    expect({ shown: canariesIn(shown), metrics: canariesIn(metrics), listed }).toEqual({
      shown: [],
      metrics: [],
      listed: [],
    });
    // Pages are stored as they came, with the cookies they set; the fate of a page that failed has what trying it again
    // needs. Both are their owner's alone.
    const files = canaryFiles(cwd);
    expect(files.filter(({ mode }) => mode !== '600')).toEqual([]);
    const others = files.filter(({ canaries }) => canaries.some((one) => one !== 'canary-session'));
    for (const { path, canaries } of others) {
      expect(path).toMatch(/\.fates\.cdxj$/);
      expect(canaries.filter((one) => one !== 'canary-session')).toEqual(['canary-userdata']);
    }
  });
});
