// `orcrawl k8s` as a user runs it: what it writes, who may read it, and what it never overwrites.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inFolder, run } from './pods-fixtures.js';

describe('orcrawl k8s', () => {
  const folder = inFolder();
  const prepare = async () => {
    await writeFile(join(folder(), 'seeds.txt'), 'https://a.test/\n');
    await writeFile(join(folder(), 'crawl.yaml'), 'email: a@b.test\nseed_file: seeds.txt\nmax_pages: 1000\n');
  };

  it('writes the manifests, with secrets that only their owner reads and git ignores', async () => {
    await prepare();
    const args = ['k8s', '--config', 'crawl.yaml', '--stores', '2', '--service-monitor'];
    const { code, stdout, stderr } = await run(folder(), args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/2 pods in 2 containers, one each[^]*kubectl apply -k k8s/);
    expect((await readdir(join(folder(), 'k8s'))).sort()).toEqual([
      ...['.gitignore', 'configmap.yaml', 'kustomization.yaml', 'networkpolicy.yaml', 'poddisruptionbudget.yaml'],
      ...['secret.yaml', 'service.yaml', 'servicemonitor.yaml', 'statefulset.yaml', 'store-networkpolicy.yaml'],
      ...['store-poddisruptionbudget.yaml', 'store-service.yaml', 'store-statefulset.yaml'],
    ]);
    const secret = join(folder(), 'k8s/secret.yaml');
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder(), 'k8s/.gitignore'), 'utf8')).toMatch(/^secret\.yaml\*$/m);
    const more = [...args, '--private-port', '9000', '9001', '--service-account', 'bucket-writer'];
    expect((await run(folder(), more)).code).toBe(0);
    const policy = await readFile(join(folder(), 'k8s/networkpolicy.yaml'), 'utf8');
    expect(policy).toMatch(/port: 9000[^]*port: 9001/);
    expect(await readFile(join(folder(), 'k8s/statefulset.yaml'), 'utf8')).toContain('bucket-writer');
    const before = await readFile(secret, 'utf8');
    expect((await run(folder(), [...args, '--name', 'other'])).code).toBe(0);
    // The password of stores that run already stays.
    const passwordIn = (text: string) => /redis-password: (\S+)/.exec(text)![1];
    expect(passwordIn(await readFile(secret, 'utf8'))).toBe(passwordIn(before));
  });

  it('overwrites no file of others, and names every problem of a configuration', async () => {
    await prepare();
    await mkdir(join(folder(), 'k8s'));
    await writeFile(join(folder(), 'k8s/service.yaml'), 'mine');
    const refused = await run(folder(), ['k8s', '--config', 'crawl.yaml']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('nothing was written')]);
    expect(await readdir(join(folder(), 'k8s'))).toEqual(['service.yaml']);
    await writeFile(join(folder(), 'bad.yaml'), 'fetchers_per_pod: none\n');
    const bad = await run(folder(), ['k8s', '--config', 'bad.yaml']);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('fetchers_per_pod')]);
    const name = await run(folder(), ['k8s', '--config', 'crawl.yaml', '--name', 'Not_A_Name']);
    expect([name.code, name.stderr]).toEqual([1, expect.stringContaining('lower-case')]);
  });
});
