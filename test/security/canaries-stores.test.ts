// Canary secrets of stores: a Redis password in a file, a Postgres password in an address, credentials of S3 in the
// environment and in AWS's own file. They are in no log, report, message, list of processes, metric or stored file.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAIN, startNode } from '../integration/cli-process.js';
import { temporaryFolder } from '../support/crawl.js';
import { postgresMissing, startPostgres } from '../support/postgres-server.js';
import { freePort, redisMissing, startRedis } from '../support/redis-server.js';
import { startS3 } from '../support/s3-server.js';
import { startWeb, watched } from './canary-run.js';
import { canariesIn, canaryFiles, leaks } from './canary-web.js';

const SCRIPT = fileURLToPath(new URL('./secretive-store.mjs', import.meta.url));
const HANDLER = `export default async ({ request, pushData, enqueueLinks, log }) => {
  await pushData({ url: request.url });
  await enqueueLinks({ strategy: 'all' });
  log.info('Done with ' + request.url);
};`;

/** Writes a crawl on pods into a folder of settings beside the one that is looked through. */
function configure(cwd: string, seed: string, lines: readonly string[]): string {
  const settings = join(cwd, '..', 'settings');
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, 'seeds.txt'), `${seed}/\n`);
  writeFileSync(join(settings, 'handler.mjs'), HANDLER);
  const all = [
    ...lines,
    `data_dirs: [${cwd}/data]`,
    `log_dir: ${cwd}/logs`,
    'email: test@example.com',
    'seed_file: seeds.txt',
    'handler: ./handler.mjs',
    'enable_cpu_affinity: false',
    'politeness_delay_seconds: 0',
    'allow_private_addresses: true',
    'max_pages: 12',
  ];
  writeFileSync(join(settings, 'crawl.yaml'), all.join('\n'));
  return join(settings, 'crawl.yaml');
}

/** What one program shows, and how it ended. */
async function told(args: readonly string[], cwd: string, env: Record<string, string>) {
  const { code, stdout, stderr } = await startNode([MAIN, ...args], { cwd, env }).ended;
  return { code, text: stdout + stderr };
}

describe('canary secrets', () => {
  it.skipIf(redisMissing !== undefined)('of a Redis password in a file stay there, also when it is wrong', async () => {
    const { web, cwd, env } = await startWeb();
    const redis = await startRedis(['--requirepass', 'canary-redis']);
    onTestFinished(() => redis.dispose());
    const metricsPort = await freePort();
    const metricLines = ['enable_prometheus: true', `prometheus_port: ${metricsPort}`];
    const pods = [`pods: [{ redis_url: '${redis.url}' }]`, 'fetchers_per_pod: 1', 'parsers_per_pod: 1'];
    const config = configure(cwd, web.strangers[1]!, [...pods, ...metricLines, 'redis_password_file: password']);
    const password = join(config, '..', 'password');

    writeFileSync(password, 'canary-wrong\n', { mode: 0o600 });
    for (const command of [
      ['config', 'check', config],
      ['run', '--config', config],
    ]) {
      const refused = await told(command, cwd, env);
      expect(refused.code).not.toBe(0);
      expect(canariesIn(refused.text)).toEqual([]);
    }
    writeFileSync(password, 'canary-redis\n', { mode: 0o600 });
    let metrics = '';
    const asking = setInterval(() => {
      fetch(`http://127.0.0.1:${metricsPort}/metrics`)
        .then(async (answer) => (metrics += await answer.text()))
        .catch(() => undefined);
    }, 200);
    onTestFinished(() => clearInterval(asking));
    const ran = await watched(startNode([MAIN, 'run', '--config', config], { cwd, env }));
    expect({ code: ran.code, end: ran.code === 0 ? '' : ran.shown.slice(-2_000) }).toEqual({ code: 0, end: '' });
    const status = await told(['status', '--config', config, '--json'], cwd, env);
    expect(web.heardElsewhere.length).toBeGreaterThan(1);
    expect(leaks(web)).toEqual([]);
    expect(metrics).toContain('orcrawl_');
    expect(canariesIn(`${ran.shown}${metrics}${status.text}`)).toEqual([]);
    expect(ran.listed).toEqual([]);
    expect(canaryFiles(cwd)).toEqual([]);
  });

  it.skipIf(postgresMissing !== undefined)('of a Postgres address are in nothing that a crawl leaves', async () => {
    const { web, cwd, env } = await startWeb();
    // Passwords count only where its list of clients says so.
    const rules = join(await temporaryFolder(), 'clients');
    chmodSync(join(rules, '..'), 0o755);
    writeFileSync(rules, 'host all all 127.0.0.1/32 trust\n', { mode: 0o644 });
    const postgres = await startPostgres([`hba_file=${rules}`]);
    onTestFinished(() => postgres.dispose());
    const { default: pg } = await import('pg');
    const admin = new pg.Client({ connectionString: postgres.url });
    await admin.connect();
    await admin.query("ALTER ROLE crawler PASSWORD 'canary-postgres'");
    writeFileSync(rules, 'host all all 127.0.0.1/32 scram-sha-256\n');
    await admin.query('SELECT pg_reload_conf()');
    await admin.end();

    const more = { ...env, SEED: web.strangers[1]!, CRAWLEE_LOG_LEVEL: 'DEBUG' };
    const run = (url: string) => watched(startNode([SCRIPT], { cwd, env: { ...more, POSTGRES: url } }));
    const login = (password: string) => postgres.url.replace('://crawler@', `://crawler:${password}@`);
    const ran = await run(login('canary-postgres'));
    expect({ code: ran.code, end: ran.code === 0 ? '' : ran.shown.slice(-2_000) }).toEqual({ code: 0, end: '' });
    expect(web.heardElsewhere.length).toBeGreaterThan(1);
    const refused = [
      await run(login('canary-wrong')),
      await run('postgres://crawler:canary-postgres@127.0.0.1:1/postgres'),
      await run('postgres://crawler:canary-postgres@127.0.0.1:port/postgres'),
      await run(login('canary-postgres').replace(/postgres$/, 'absent')),
    ];
    for (const { code } of refused) expect(code).not.toBe(0);
    for (const { shown, listed } of [ran, ...refused]) {
      expect(canariesIn(shown)).toEqual([]);
      expect(listed).toEqual([]);
    }
    expect(leaks(web)).toEqual([]);
    expect(canaryFiles(cwd)).toEqual([]);
  });

  it.each(['the environment', 'AWS’s own file'])(
    'of an object store, given by %s, are in nothing that a crawl leaves',
    async (place) => {
      const { web, cwd, env } = await startWeb();
      const s3 = await startS3();
      onTestFinished(() => s3.close());
      s3.bucket('crawl');
      const where = { AWS_REGION: 'eu-north-1', AWS_ENDPOINT_URL_S3: s3.endpoint };
      const file = join(cwd, '..', 'credentials');
      const secrets = ['aws_secret_access_key = canary-awssecret', 'aws_session_token = canary-awstoken'];
      writeFileSync(file, ['[default]', 'aws_access_key_id = AKID', ...secrets, ''].join('\n'), { mode: 0o600 });
      const account: Record<string, string> =
        place === 'the environment'
          ? {
              AWS_ACCESS_KEY_ID: 'AKID',
              AWS_SECRET_ACCESS_KEY: 'canary-awssecret',
              AWS_SESSION_TOKEN: 'canary-awstoken',
            }
          : { AWS_SHARED_CREDENTIALS_FILE: file };
      const all = { ...env, ...where, ...account };
      const address = 's3://crawl/whole';
      const stores = [`content: ${address}`, `datasets: ${address}`, 'store_raw_html: true'];
      const pods = [`pods: [{ path: ${cwd}/pod0 }]`, 'enable_prometheus: false'];
      const config = configure(cwd, web.strangers[1]!, [...pods, ...stores]);

      s3.fail(() => ({ status: 403, code: 'SignatureDoesNotMatch' }));
      const refused = await told(['run', '--config', config], cwd, all);
      expect(refused.code).not.toBe(0);
      s3.fail(() => undefined);
      const ran = await watched(startNode([MAIN, 'run', '--config', config], { cwd, env: all }));
      expect({ code: ran.code, end: ran.code === 0 ? '' : ran.shown.slice(-2_000) }).toEqual({ code: 0, end: '' });
      const exported = await told(['export', address, join(cwd, 'data'), '--format', 'jsonl'], cwd, all);
      expect(exported.text).toContain(web.strangers[1]);
      expect(canariesIn(refused.text + ran.shown + exported.text)).toEqual([]);
      expect(ran.listed).toEqual([]);
      expect(leaks(web)).toEqual([]);
      expect(canaryFiles(cwd)).toEqual([]);
      const stored = [...s3.bucket('crawl')].filter(([, bytes]) => canariesIn(bytes.toString('latin1')).length > 0);
      expect(stored).toEqual([]);
    },
  );
});
