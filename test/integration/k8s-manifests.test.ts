// The manifests of `orcrawl k8s`, judged by the schemas of Kubernetes and by whether they agree with one another.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readPodsConfig } from '../../src/pods/config/config.js';
import { type K8sOptions, k8sFiles } from '../../src/pods/operate/k8s/k8s.js';
import { SECRETS_DIR } from '../../src/pods/operate/k8s/paths.js';
import { GRACE_SECS } from '../../src/pods/placing/patience.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orcrawl-k8s-'));
  await writeFile(join(folder, 'seeds.txt'), 'https://a.test/\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SECRET = 'p4ss-that-nobody-may-see';
const OTHER = 'an0ther-password';

async function made(yaml: readonly string[], options: Partial<K8sOptions> = {}) {
  const configFile = join(folder, 'crawl.yaml');
  await writeFile(configFile, ['email: a@b.test', 'seed_file: seeds.txt', ...yaml].join('\n'));
  const result = await k8sFiles({
    ...{ configFile, name: 'crawl', image: 'orcrawl:1', podsPerReplica: 1, storeImage: 'redis:7-alpine', hours: 24 },
    ...options,
  });
  const objects = new Map([...result.files].map(([name, text]) => [name, parse(text) as Manifest]));
  return { ...result, objects, config: () => configIn(objects.get('configmap.yaml')!) };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  readonly data: Record<string, string>;
  // Read freely: the schemas have judged its shape.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly spec: any;
  readonly resources: readonly string[];
}

const configIn = ({ data }: Manifest) =>
  readPodsConfig('/x/crawl.yaml', {}, { text: data['crawl.yaml'], isToRun: false });

/** The ports that containers may reach beside the web's. */
const portsIn = (objects: ReadonlyMap<string, Manifest>): number[] =>
  (objects.get('networkpolicy.yaml')!.spec.egress as { ports?: { port: number }[] }[])
    .flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    .sort((one, other) => one - other);

const MODELS = { StatefulSet, NetworkPolicy, PodDisruptionBudget, ConfigMap, Secret, Service };

/** What is wrong with manifests as a whole: shapes, and names that lead nowhere. */
function problemsOf(objects: ReadonlyMap<string, Manifest>): string[] {
  const problems: string[] = [];
  const all = [...objects.values()].filter(({ kind }) => kind !== 'Kustomization');
  for (const [file, object] of objects) {
    const Model = MODELS[object.kind as keyof typeof MODELS] as (new (data: never) => { validate(): void }) | undefined;
    if (!Model) continue;
    try {
      new Model(object as never).validate();
    } catch (error) {
      problems.push(`${file}: ${(error as Error).message}`);
    }
  }
  const named = (kind: string) => new Set(all.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name));
  const sets = all.filter(({ kind }) => kind === 'StatefulSet');
  const fits = (labels: Record<string, string>, wanted: Record<string, string>) =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value);
  const podLabels = sets.map(({ spec }) => spec.template.metadata.labels as Record<string, string>);
  for (const { metadata, spec } of sets) {
    const pod = spec.template.spec;
    const ports = new Set(
      pod.containers.flatMap((one: { ports: { name: string }[] }) => one.ports.map(({ name }) => name)),
    );
    if (!fits(spec.template.metadata.labels, spec.selector.matchLabels)) problems.push(`${metadata.name}: selector`);
    if (!named('Service').has(spec.serviceName)) problems.push(`${metadata.name}: service ${spec.serviceName}`);
    const volumes = new Set([
      ...pod.volumes.map(({ name }: { name: string }) => name),
      ...spec.volumeClaimTemplates.map((one: Manifest) => one.metadata.name),
    ]);
    for (const container of pod.containers) {
      const mounted = new Set(container.volumeMounts.map(({ name }: { name: string }) => name));
      for (const name of mounted) if (!volumes.has(name)) problems.push(`${metadata.name}: mounts ${String(name)}`);
      for (const name of volumes)
        if (!mounted.has(name)) problems.push(`${metadata.name}: ${String(name)} is not mounted`);
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const port = container[probe].httpGet?.port;
        if (port !== undefined && !ports.has(port)) problems.push(`${metadata.name}: ${probe} asks ${port}`);
      }
    }
    for (const { configMap, secret } of pod.volumes) {
      if (configMap && !named('ConfigMap').has(configMap.name)) problems.push(`no ConfigMap ${configMap.name}`);
      if (secret && !named('Secret').has(secret.secretName)) problems.push(`no Secret ${secret.secretName}`);
    }
  }
  const selects = (labels: Record<string, string>) => podLabels.some((one) => fits(one, labels));
  for (const { kind, metadata, spec } of all) {
    const wanted =
      kind === 'Service'
        ? spec.selector
        : kind === 'NetworkPolicy'
          ? spec.podSelector.matchLabels
          : kind === 'PodDisruptionBudget'
            ? spec.selector.matchLabels
            : undefined;
    if (wanted && !selects(wanted)) problems.push(`${kind} ${metadata.name} selects no pod`);
    if (
      kind === 'ServiceMonitor' &&
      !all.some((one) => one.kind === 'Service' && fits(one.metadata.labels, spec.selector.matchLabels))
    ) {
      problems.push(`${kind} ${metadata.name} selects no service`);
    }
  }
  const files = [...objects.keys()].filter((name) => name !== 'kustomization.yaml');
  if (String(files) !== String(objects.get('kustomization.yaml')?.resources)) problems.push('kustomization.yaml');
  return problems;
}

describe('the manifests of a crawl', () => {
  const pods = ['pods: [redis://a.db:6379, redis://b.db:6380, redis://c.db:6379]', 'fetchers_per_pod: 4'];

  it('fit the schemas of Kubernetes and one another, with stores of their own and without', async () => {
    expect(problemsOf((await made(pods, { serviceMonitor: true, namespace: 'crawls' })).objects)).toEqual([]);
    expect(problemsOf((await made([], { stores: 3, serviceMonitor: true, pages: 1e7 })).objects)).toEqual([]);
    expect(problemsOf((await made(['parsers_per_pod: 1', 'data_dirs: [a, b]', ...pods], {})).objects)).toEqual([]);
  });

  it('are refused by this test when a name leads nowhere or a shape is wrong', async () => {
    const damage = async (change: (objects: Map<string, Manifest>) => void) => {
      const { objects } = await made([], { stores: 2, serviceMonitor: true });
      change(objects);
      return problemsOf(objects);
    };
    const set = (objects: Map<string, Manifest>) => objects.get('statefulset.yaml')!.spec;
    expect(await damage((all) => (set(all).template.spec.containers[0].volumeMounts[0].name = 'x'))).toHaveLength(2);
    expect(await damage((all) => (set(all).template.spec.containers[0].livenessProbe.httpGet.port = 'x'))).toHaveLength(
      1,
    );
    expect(await damage((all) => (set(all).selector.matchLabels.x = 'y'))).toHaveLength(1);
    expect(await damage((all) => (set(all).replicas = 'three'))).toHaveLength(1);
    expect(await damage((all) => all.delete('secret.yaml'))).not.toEqual([]);
    expect(await damage((all) => (all.get('networkpolicy.yaml')!.spec.podSelector.matchLabels.x = 'y'))).toHaveLength(
      1,
    );
  });

  it('give each container its range of pods, its volumes and the time that a run takes to drain', async () => {
    const { objects, replicas } = await made(pods, { podsPerReplica: 2 });
    expect(replicas).toBe(2);
    const { spec } = objects.get('statefulset.yaml')!;
    expect(spec.replicas).toBe(2);
    expect(spec.template.spec.containers[0].args).toEqual(
      expect.arrayContaining(['run', '--pods-from-hostname', '2', '--stay']),
    );
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(GRACE_SECS);
    expect(GRACE_SECS).toBeGreaterThan(60);
    expect(spec.template.spec.containers[0].securityContext).toMatchObject({ readOnlyRootFilesystem: true });
    // 4 fetchers of 2 pods at 0.8 of a core, and the orchestrator.
    expect(spec.template.spec.containers[0].resources.requests.cpu).toBe('6600m');
  });

  it('use a service account where one is named, and never mount its token for the API', async () => {
    const specOf = ({ objects }: { objects: Map<string, Manifest> }) =>
      objects.get('statefulset.yaml')!.spec.template.spec;
    const own = await made(pods, { serviceAccount: 'bucket-writer' });
    expect(specOf(own)).toMatchObject({ serviceAccountName: 'bucket-writer', automountServiceAccountToken: false });
    expect(problemsOf(own.objects)).toEqual([]);
    expect(specOf(await made(pods))).not.toHaveProperty('serviceAccountName');
  });

  it('run embedded pods in one container, since their stores are on one disk', async () => {
    const { replicas, config } = await made(['pod_count: 3']);
    expect(replicas).toBe(1);
    expect((await config()).pods).toMatchObject([{ path: '/data/0/pod_0' }, {}, {}]);
  });

  it('size volumes by the pages that are planned', async () => {
    const small = await made(pods, { pages: 1e6 });
    const large = await made(pods, { pages: 1e8 });
    expect(large.volumeGb).toBeGreaterThan(50 * small.volumeGb);
    expect(small.warnings.join()).not.toMatch(/fetchers/);
    // A billion pages per day is beyond these pods on any machine that exists; a hundred million may not be.
    expect((await made(pods, { pages: 1e9 })).warnings.join()).toMatch(/fetchers/);
    expect((await made(['max_pages: 1000', ...pods])).volumeGb).toBe(1);
    expect((await made(pods)).warnings.join()).toContain('are a guess');
  });

  it('have no password outside of the Secret', async () => {
    await writeFile(join(folder, 'password'), OTHER);
    const cases: [yaml: string[], options?: Partial<K8sOptions>][] = [
      [[`pods: ['redis://u:${SECRET}@a.db', 'redis://:${OTHER}@b.db', { redis_url: redis://c.db }]`]],
      [[...pods, `redis_password: ${SECRET}`]],
      [[...pods, 'redis_password_file: password']],
      [[`cluster: { nodes: ['redis://u:${SECRET}@a.db:7000', b.db:7001] }`, 'pod_count: 3']],
      [[`sentinel: { name: m, nodes: ['redis://:${SECRET}@a.db'] }`]],
      [[`pods: ['rediss://a.db?username=u&password=${SECRET}']`]],
    ];
    for (const [yaml, options] of cases) {
      const { files, objects, config } = await made(yaml, options);
      for (const [name, text] of files) {
        // Tools for manifests need not read aliases.
        expect(text).not.toMatch(/: [&*]\w/);
        const isThere = [SECRET, OTHER].some(
          (one) => text.includes(one) || text.includes(Buffer.from(one).toString('base64')),
        );
        expect([yaml, name, isThere]).toEqual([yaml, name, name === 'secret.yaml']);
      }
      expect(problemsOf(objects)).toEqual([]);
      const { pods: stores } = await config();
      const addresses = stores.map((one) => (one.kind === 'redis' ? one.redisUrl : ''));
      expect(addresses[0]).toContain(encodeURIComponent(`${SECRETS_DIR}/redis-password`));
    }
  });

  it('keep the password of their own stores when they are written again', async () => {
    const first = await made([], { stores: 1 });
    const again = await made([], { stores: 1, earlierSecret: first.files.get('secret.yaml') });
    expect(again.files.get('secret.yaml')).toBe(first.files.get('secret.yaml'));
    expect((await made([], { stores: 1 })).files.get('secret.yaml')).not.toBe(first.files.get('secret.yaml'));
  });

  it('tell all problems of a configuration at once', async () => {
    await writeFile(join(folder, 'crawl.yaml'), 'seed_file: missing.txt\npods: [unix:///run/redis.sock]\n');
    const options = {
      configFile: join(folder, 'crawl.yaml'),
      name: 'c',
      image: 'i',
      podsPerReplica: 1,
      storeImage: 'redis',
      hours: 1,
    };
    await expect(k8sFiles(options)).rejects.toThrow(/email[^]*socket[^]*missing\.txt/);
  });

  it('keep the web apart from private addresses unless those are crawled', async () => {
    const closed = await made(pods);
    expect(JSON.stringify(closed.objects.get('networkpolicy.yaml'))).toContain('169.254.0.0/16');
    expect(portsIn(closed.objects)).toEqual([53, 53, 4_318, 6_379, 6_380]);
    const withObjects = await made([...pods, 'content: s3://bucket/crawl'], { privatePort: [9_000] });
    expect(portsIn(withObjects.objects)).toContain(9_000);
    expect(problemsOf(withObjects.objects)).toEqual([]);
    const open = await made([...pods, 'allow_private_addresses: true']);
    expect(JSON.stringify(open.objects.get('networkpolicy.yaml'))).not.toContain('169.254.0.0/16');
    expect(await readFile(join(folder, 'crawl.yaml'), 'utf8')).toContain('allow_private');
  });
});
