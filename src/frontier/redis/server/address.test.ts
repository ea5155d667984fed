// Addresses of a Redis in all their forms; what is secret never shows.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessTo, completeAddress, parseAddress, withoutPassword } from './address.js';

describe('an address', () => {
  it('names a server, a socket, Sentinels or a cluster', () => {
    expect(parseAddress('redis://localhost')).toMatchObject({
      kind: 'server',
      nodes: [{ host: 'localhost', port: 6379 }],
      db: 0,
    });
    expect(parseAddress('rediss://me:p%40ss@[::1]:6380/3?ca=/c.pem')).toMatchObject({
      ...{
        nodes: [{ host: '::1', port: 6380 }],
        db: 3,
        isTls: true,
        caFile: '/c.pem',
        username: 'me',
        password: 'p@ss',
      },
    });
    expect(parseAddress('unix:///run/redis.sock?db=2')).toMatchObject({ path: '/run/redis.sock', db: 2, nodes: [] });
    expect(parseAddress('redis+sentinel://a,b:5000/main/1')).toMatchObject({
      ...{
        kind: 'sentinel',
        master: 'main',
        db: 1,
        nodes: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 5000 },
        ],
      },
    });
    expect(parseAddress('rediss+cluster://a:1,b:2')).toMatchObject({ kind: 'cluster', isTls: true });
  });

  it.each([
    'http://localhost',
    'redis://',
    'redis://a,b',
    'redis://a/x',
    'redis://a:99999',
    'redis://a/0/1',
    'redis://a?x=1',
    'redis://a?ca=/c.pem',
    'rediss://a?cert=/c.pem',
    'redis+sentinel://a',
    'redis+cluster://a/1',
    'redis://%zz',
    'unix://host/path',
  ])('is not %s', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('is completed by what is said for all, unless it says more itself', () => {
    const all = { db: 4, username: 'crawler', passwordFile: '/run/secret', caFile: '/ca.pem' };
    expect(completeAddress('rediss://a', all)).toBe(
      'rediss://a:6379/4?username=crawler&password_file=%2Frun%2Fsecret&ca=%2Fca.pem',
    );
    expect(completeAddress('redis://u:p@a/0', all)).toBe('redis://a:6379/0?username=u&password=p');
    expect(completeAddress('unix:///s.sock', { db: 1 })).toBe('unix:///s.sock?db=1');
    expect(completeAddress('redis+cluster://a,b', all)).toBe(
      'redis+cluster://a:6379,b:6379?username=crawler&password_file=%2Frun%2Fsecret',
    );
    expect(completeAddress('no address', all)).toBeUndefined();
  });

  it('shows no user, password or file of one', () => {
    for (const text of [
      'redis://user:secret@a:1/0?password_file=/secret',
      'unix:///s.sock?password=secret',
      'redis+cluster://user:secret@a:1,b:2?password=secret',
      'ftp://user:secret@a/x?password=secret',
      'secret',
    ]) {
      expect(withoutPassword(text)).not.toMatch(/secret|user/);
    }
  });

  it('takes its password from itself, a file or the environment, in this order', () => {
    const folder = mkdtempSync(join(tmpdir(), 'orcrawl-address-'));
    try {
      const file = join(folder, 'password');
      writeFileSync(file, 'from a file\n');
      const env = { ORCRAWL_REDIS_PASSWORD: 'from the environment', ORCRAWL_REDIS_USERNAME: 'me' };
      expect(accessTo(parseAddress('redis://:own@a')!, env)).toEqual({ username: 'me', password: 'own' });
      expect(accessTo(parseAddress(`redis://a?password_file=${file}`)!, env).password).toBe('from a file');
      expect(accessTo(parseAddress('redis://a')!, env).password).toBe('from the environment');
      expect(accessTo(parseAddress('redis://a')!, { ORCRAWL_REDIS_PASSWORD_FILE: file }).password).toBe('from a file');
      expect(accessTo(parseAddress('redis://a')!, {})).toEqual({});
      expect(() => accessTo(parseAddress('rediss://a?ca=/none.pem')!, {})).toThrow(/CA certificate .* file not found/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
