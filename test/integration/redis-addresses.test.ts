// Every way to a Redis that people use, with real servers: TLS with certificates, ACL users, passwords in files,
// sockets, databases and Sentinels; the same for queues, pods and serve, which all open their connections in one place.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createConnection } from '../../src/frontier/redis/server/connection.js';
import { probeRedis } from '../../src/frontier/redis/server/probe.js';
import { RequestQueue } from '../../src/index.js';
import { openRedisJobs } from '../../src/serve/jobs/redis-store.js';
import { testConfig } from '../support/crawl.js';
import { freePort, redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';
import { makeCertificates } from './http-certificates.js';

const SECRET = 'p@ss "word" /1';

describe.skipIf(redisMissing)(`ways to a Redis${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  let folder: string;
  let server: RedisServer;
  let tlsPort: number;
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orcrawl-ways-'));
    const { ca, good } = makeCertificates();
    file('ca.pem', ca);
    file('good.pem', good.cert);
    file('good.key', good.key);
    file('password', `${SECRET}\n`);
    file(
      'users.acl',
      `user default on nopass ~* &* +@all\nuser crawler on #${await sha256(SECRET)} ~* &* +@all -@admin\n`,
    );
    tlsPort = await freePort();
    const tls = ['--tls-port', String(tlsPort), '--tls-cert-file', join(folder, 'good.pem')];
    const files = ['--tls-key-file', join(folder, 'good.key'), '--tls-ca-cert-file', join(folder, 'ca.pem')];
    const socket = ['--unixsocket', join(folder, 'redis.sock'), '--aclfile', join(folder, 'users.acl')];
    server = await startRedis([...tls, ...files, ...socket]);
  }, 60_000);
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    for (const name of ['USERNAME', 'PASSWORD', 'PASSWORD_FILE', 'CA_FILE'])
      delete process.env[`ORCRAWL_REDIS_${name}`];
  });

  /** Who the server says we are, and in which database. */
  async function whoami(url: string): Promise<string> {
    const connection = createConnection({ url, connectTimeoutMs: 10_000, patienceMs: 10_000 });
    try {
      await connection.connect();
      const list = String(await connection.command('CLIENT', 'INFO'));
      return `${/user=(\S+)/.exec(list)![1]} ${/ db=(\d+)/.exec(list)![1]}`;
    } finally {
      connection.close();
    }
  }

  it('TLS: checks the certificate, and shows its own', async () => {
    const tls = `rediss://127.0.0.1:${tlsPort}`;
    const files = `ca=${folder}/ca.pem&cert=${folder}/good.pem&key=${folder}/good.key`;
    expect(await whoami(`${tls}/2?${files}`)).toBe('default 2');
    // An authority that the system does not know, and a server that asks for a certificate.
    await expect(whoami(`${tls}?cert=${folder}/good.pem&key=${folder}/good.key`)).rejects.toThrow(/certificate/);
    await expect(whoami(`${tls}?ca=${folder}/ca.pem`)).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });
  });

  it('users: from the address, a file or the environment', async () => {
    expect(await whoami(`redis://crawler:${encodeURIComponent(SECRET)}@127.0.0.1:${server.port}/1`)).toBe('crawler 1');
    expect(await whoami(`unix://${folder}/redis.sock?db=3&username=crawler&password_file=${folder}/password`)).toBe(
      'crawler 3',
    );
    process.env.ORCRAWL_REDIS_USERNAME = 'crawler';
    process.env.ORCRAWL_REDIS_PASSWORD_FILE = join(folder, 'password');
    expect(await whoami(server.url)).toBe('crawler 0');
    process.env.ORCRAWL_REDIS_PASSWORD = 'wrong-secret';
    const refusal = await whoami(server.url).catch((error: unknown) => error as Error);
    expect(refusal).toMatchObject({ code: 'QUEUE_UNSUITABLE' });
    expect(JSON.stringify(refusal) + String(refusal) + String((refusal as Error).stack)).not.toContain('wrong-secret');
  });

  it('queues and the jobs of serve take the same addresses', async () => {
    const address = `unix://${folder}/redis.sock?db=4&username=crawler&password_file=${folder}/password`;
    const queue = await RequestQueue.open('q', { config: await testConfig(), redisUrl: address });
    await queue.addRequest('https://example.com/');
    expect((await queue.fetchNextRequest())!.url).toBe('https://example.com/');
    await queue.drop();
    const jobs = await openRedisJobs(address);
    expect(await jobs.agreed('name', 'value')).toBe('value');
    await jobs.store.close();
  });

  it('says which file is missing, and which address is none', async () => {
    const { problem } = await probeRedis({ url: `redis://127.0.0.1:${server.port}?password_file=/none/secret` });
    expect(problem).toBe(
      `the password for Redis at redis://127.0.0.1:${server.port} cannot be read (/none/secret): file not found`,
    );
    expect((await probeRedis({ url: 'redis://user:secret@a,b' })).problem).toMatch(/^invalid Redis address[^@]*: use/);
    expect((await probeRedis({ url: 'secret' })).problem).toMatch(/^invalid Redis address: use/);
  });

  it('Sentinels: goes to the master, and to the next one after a failover', async () => {
    const master = await startRedis(['--appendonly', 'yes']);
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)]);
    const sentinelPort = await freePort();
    const configuration = file(
      'sentinel.conf',
      `port ${sentinelPort}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${master.port} 1\n` +
        'sentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 5000\n',
    );
    const { spawn } = await import('node:child_process');
    const sentinel = spawn('redis-server', [configuration, '--sentinel'], { stdio: 'ignore' });
    const url = `redis+sentinel://127.0.0.1:1,127.0.0.1:${sentinelPort}/main/0`;
    const connection = createConnection({ url, replicas: 1, connectTimeoutMs: 60_000, patienceMs: 90_000 });
    try {
      await connection.connect();
      await connection.command('SET', 'written', 'before');
      const first = /tcp_port:(\d+)/.exec(String(await connection.command('INFO', 'server')))![1];
      expect(Number(first)).toBe(master.port);
      // Sentinels learn of replicas from the master, every ten seconds.
      const known = createConnection({ url: `redis://127.0.0.1:${sentinelPort}` });
      await known.connect();
      for (const end = performance.now() + 60_000; performance.now() < end; await delay(200)) {
        if (((await known.command('SENTINEL', 'REPLICAS', 'main')) as unknown[]).length > 0) break;
      }
      known.close();
      await master.stop();
      expect(String(await connection.command('GET', 'written'))).toBe('before');
      const second = /tcp_port:(\d+)/.exec(String(await connection.command('INFO', 'server')))![1];
      expect(Number(second)).toBe(replica.port);
    } finally {
      connection.close();
      sentinel.kill('SIGKILL');
      await master.dispose();
      await replica.dispose();
    }
  }, 240_000);
});

async function sha256(text: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(text).digest('hex');
}
