// The manifests of a crawl on Kubernetes: plain objects, named and linked in one place.
// Promise: containers run as a user without rights on a read-only root, reach the web and their stores and no other
// private address, and are given as long to drain as a run takes.
import { stringify } from 'yaml';
import { parseAddress } from '../../../frontier/redis/server/address.js';
import type { PodsConfig } from '../../config/types.js';
import { GRACE_SECS } from '../../placing/patience.js';
import { hashOf } from './cluster-config.js';
import { CONFIG_DIR, CONFIG_FILE, SECRETS_DIR, USER_ID, volumeName, volumePath } from './paths.js';
import {
  claim,
  disruptionBudget,
  type Manifest,
  type ManifestOptions,
  meta,
  SAFE_CONTAINER,
  safePod,
  secretName,
  selectorOf,
} from './parts.js';
import { storeManifests } from './store-manifests.js';

/** File name → text, `kustomization.yaml` last. */
export function manifestFiles(options: ManifestOptions): Map<string, string> {
  const { namespace, name } = options;
  const manifests = new Map<string, Manifest>([
    ['configmap.yaml', configMap(options)],
    ...(options.existingSecret === undefined && options.cluster.secrets.size > 0
      ? [['secret.yaml', secret(options)] as const]
      : []),
    ['service.yaml', headlessService(options)],
    ['statefulset.yaml', statefulSet(options)],
    ['poddisruptionbudget.yaml', disruptionBudget(meta(options), selectorOf(name))],
    ['networkpolicy.yaml', networkPolicy(options)],
    ...(options.hasServiceMonitor ? [['servicemonitor.yaml', serviceMonitor(options)] as const] : []),
    ...(options.stores ? storeManifests(options, options.stores) : []),
  ]);
  const kustomization = {
    ...{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' },
    ...(namespace !== undefined && { namespace }),
    resources: [...manifests.keys()],
  };
  return new Map(
    [...manifests, ['kustomization.yaml', kustomization] as const].map(([file, manifest]) => [
      file,
      `${MARK}\n${stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false })}`,
    ]),
  );
}

/** The first line of every file. */
export const MARK = '# Made by orcrawl k8s: change the configuration and run it again.';

function configMap(options: ManifestOptions): Manifest {
  const { yaml, files } = options.cluster;
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(options, '-config') },
    data: { [CONFIG_FILE]: yaml, ...Object.fromEntries(files) },
  };
}

function secret(options: ManifestOptions): Manifest {
  const values = [...options.cluster.secrets].map(([name, value]) => [name, value.toString('base64')]);
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: meta(options, '-secrets'), type: 'Opaque' },
    data: Object.fromEntries(values) as Record<string, string>,
  };
}

const METRICS = 'metrics';

function headlessService(options: ManifestOptions): Manifest {
  const { name, config } = options;
  return {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: meta(options) },
    spec: {
      clusterIP: 'None',
      // A container that drains is still asked for its metrics.
      publishNotReadyAddresses: true,
      selector: selectorOf(name),
      ports: [{ name: METRICS, port: config.prometheusPort, targetPort: METRICS }],
    },
  };
}

function statefulSet(options: ManifestOptions): Manifest {
  const { name, config, cluster, podsPerReplica, resources } = options;
  const labels = selectorOf(name);
  const hasSecrets = cluster.secrets.size > 0;
  const needsSharedMemory = config.engine !== 'http' || config.parsersPerPod > 0;
  const mounts = [
    { name: 'config', mountPath: CONFIG_DIR, readOnly: true },
    ...(hasSecrets ? [{ name: 'secrets', mountPath: SECRETS_DIR, readOnly: true }] : []),
    { name: 'tmp', mountPath: '/tmp' },
    ...(needsSharedMemory ? [{ name: 'shm', mountPath: '/dev/shm' }] : []),
    ...config.dataDirs.map((_, index) => ({ name: volumeName(index), mountPath: volumePath(index) })),
  ];
  const container = {
    name: 'crawl',
    image: options.image,
    // The ordinal of the StatefulSet is in the host's name. No shell in between: signals reach the crawl.
    args: ['run', '--config', `${CONFIG_DIR}/${CONFIG_FILE}`, '--pods-from-hostname', String(podsPerReplica), '--stay'],
    // For credentials of an object store or a collector.
    envFrom: [{ secretRef: { name: `${name}-env`, optional: true } }],
    ports: [{ name: METRICS, containerPort: config.prometheusPort }],
    resources: {
      requests: { cpu: `${resources.cpuMillis}m`, memory: `${resources.memoryMb}Mi` },
      limits: { memory: `${resources.memoryLimitMb}Mi` },
    },
    // Before the first answer it may wait for stores and for the supervisor of an earlier container.
    startupProbe: probe('/health', { periodSeconds: 5, failureThreshold: 60 }),
    livenessProbe: probe('/health', { periodSeconds: 20, failureThreshold: 6 }),
    readinessProbe: probe('/ready', { periodSeconds: 10, failureThreshold: 3 }),
    securityContext: SAFE_CONTAINER,
    volumeMounts: mounts,
  };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: meta(options) },
    spec: {
      serviceName: name,
      replicas: Math.ceil(config.pods.length / podsPerReplica),
      // Pods of a crawl do not wait for one another.
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { 'orcrawl/config': hashOf(cluster) } },
        spec: {
          terminationGracePeriodSeconds: GRACE_SECS,
          // Providers put the token of a role there by themselves.
          ...(options.serviceAccount !== undefined && { serviceAccountName: options.serviceAccount }),
          automountServiceAccountToken: false,
          securityContext: safePod(USER_ID),
          containers: [container],
          volumes: [
            { name: 'config', configMap: { name: `${name}-config` } },
            ...(hasSecrets
              ? [{ name: 'secrets', secret: { secretName: secretName(options), defaultMode: 0o440 } }]
              : []),
            { name: 'tmp', emptyDir: {} },
            ...(needsSharedMemory ? [{ name: 'shm', emptyDir: { medium: 'Memory' } }] : []),
          ],
          topologySpreadConstraints: [
            {
              ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
              labelSelector: { matchLabels: labels },
            },
          ],
        },
      },
      volumeClaimTemplates: config.dataDirs.map((_, index) => claim(volumeName(index), options.volumeGb, options)),
    },
  };
}

function probe(path: string, timing: { periodSeconds: number; failureThreshold: number }): Manifest {
  return { httpGet: { path, port: METRICS }, timeoutSeconds: 5, ...timing };
}

/** Not the web: the cluster's own, the provider's metadata, neighbours. */
const PRIVATE_V4 = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];
const PRIVATE_V6 = ['fc00::/7', 'fe80::/10', '::1/128', '64:ff9b::/96'];
/** Where a collector of OpenTelemetry listens. */
const OTLP_PORT = 4_318;

function networkPolicy(options: ManifestOptions): Manifest {
  const { name, config, stores, privatePorts } = options;
  const tcp = (ports: readonly number[]) => ports.map((port) => ({ protocol: 'TCP', port }));
  const own = [...storePorts(config)].sort((a, b) => a - b);
  const web = config.allowPrivateAddresses
    ? {}
    : { to: [ipBlock('0.0.0.0/0', PRIVATE_V4), ipBlock('::/0', PRIVATE_V6)] };
  const dns = [53].flatMap((port) => [
    { protocol: 'UDP', port },
    { protocol: 'TCP', port },
  ]);
  const beside = stores ? [{ to: [{ podSelector: { matchLabels: selectorOf(name, 'store') } }], ports: tcp(own) }] : [];
  return {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: meta(options) },
    spec: {
      podSelector: { matchLabels: selectorOf(name) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ protocol: 'TCP', port: METRICS }] }],
      egress: [
        { ports: dns },
        web,
        ...(stores || own.length === 0 ? beside : [{ ports: tcp(own) }]),
        { to: [{ namespaceSelector: {} }], ports: tcp([OTLP_PORT]) },
        ...(privatePorts.length > 0 ? [{ ports: tcp(privatePorts) }] : []),
      ],
    },
  };
}

const ipBlock = (cidr: string, except: readonly string[]): Manifest => ({ ipBlock: { cidr, except } });

/** Stores, and the masters behind Sentinels, whose ports only they know: the usual one. */
function storePorts(config: PodsConfig): Set<number> {
  const ports = new Set<number>();
  for (const pod of config.pods) {
    const address = pod.kind === 'redis' ? parseAddress(pod.redisUrl) : undefined;
    for (const { port } of address?.nodes ?? []) ports.add(port);
    if (address?.kind === 'sentinel') ports.add(6_379);
  }
  return ports;
}

function serviceMonitor(options: ManifestOptions): Manifest {
  return {
    ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor', metadata: meta(options) },
    spec: {
      selector: { matchLabels: selectorOf(options.name) },
      endpoints: [{ port: METRICS, path: '/metrics', interval: '15s' }],
    },
  };
}
