// The stores of a crawl on Kubernetes, when it brings its own: a Redis per pod, with a password and a volume.
// Promise: the same server as in a compose file (topology.ts); only the crawl can connect to it.
import type { StoreServer } from '../topology.js';
import { SECRETS_DIR } from './paths.js';
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
import { storeLimitMb } from './resources.js';

const COMPONENT = 'store';
const SUFFIX = '-store';
/** The user `redis` of the images. */
const STORE_USER = 999;
const PASSWORD = `${SECRETS_DIR}/redis-password`;

/** The addresses of the stores inside the namespace, by pod. */
export function storeAddresses(name: string, pods: number, port: number): string[] {
  const host = `${name}${SUFFIX}`;
  return Array.from({ length: pods }, (_, pod) => `redis://${host}-${pod}.${host}:${port}`);
}

export function storeManifests(
  options: ManifestOptions,
  { server, volumeGb }: { readonly server: StoreServer; readonly volumeGb: number },
): [file: string, manifest: Manifest][] {
  const { name, config } = options;
  const labels = selectorOf(name, COMPONENT);
  const metadata = meta(options, SUFFIX, COMPONENT);
  const service = {
    ...{ apiVersion: 'v1', kind: 'Service', metadata },
    spec: { clusterIP: 'None', selector: labels, ports: [{ name: 'redis', port: server.port, targetPort: 'redis' }] },
  };
  // The password is never an argument, which every process could read: it is in a file in memory.
  const command = [
    'sh',
    '-c',
    `printf 'requirepass "%s"\\n' "$(cat ${PASSWORD})" > /tmp/redis.conf && exec ${server.program} /tmp/redis.conf "$@"`,
    server.program,
    ...server.flags.flatMap(({ name: flag, value }) => [flag, value]),
    ...['--dir', server.dataPath],
  ];
  const ping = ['sh', '-c', `REDISCLI_AUTH="$(cat ${PASSWORD})" ${server.client} ping | grep -q PONG`];
  const set = {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
    spec: {
      serviceName: `${name}${SUFFIX}`,
      replicas: config.pods.length,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: server.graceSecs,
          automountServiceAccountToken: false,
          securityContext: safePod(STORE_USER),
          containers: [
            {
              name: 'redis',
              image: server.image,
              command,
              ports: [{ name: 'redis', containerPort: server.port }],
              resources: {
                requests: { cpu: '500m', memory: `${server.megabytes}Mi` },
                limits: { memory: `${storeLimitMb(server.megabytes)}Mi` },
              },
              startupProbe: { exec: { command: ping }, periodSeconds: 5, failureThreshold: 120, timeoutSeconds: 5 },
              livenessProbe: { exec: { command: ping }, periodSeconds: 20, failureThreshold: 6, timeoutSeconds: 5 },
              readinessProbe: { exec: { command: ping }, periodSeconds: 5, failureThreshold: 3, timeoutSeconds: 5 },
              securityContext: SAFE_CONTAINER,
              volumeMounts: [
                { name: 'data', mountPath: server.dataPath },
                { name: 'secrets', mountPath: SECRETS_DIR, readOnly: true },
                { name: 'tmp', mountPath: '/tmp' },
              ],
            },
          ],
          volumes: [
            { name: 'secrets', secret: { secretName: secretName(options), defaultMode: 0o440 } },
            { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
          ],
        },
      },
      volumeClaimTemplates: [claim('data', volumeGb, options)],
    },
  };
  const policy = {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata },
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: selectorOf(name) } }],
          ports: [{ protocol: 'TCP', port: 'redis' }],
        },
      ],
      egress: [],
    },
  };
  return [
    ['store-service.yaml', service],
    ['store-statefulset.yaml', set],
    ['store-poddisruptionbudget.yaml', disruptionBudget(metadata, labels)],
    ['store-networkpolicy.yaml', policy],
  ];
}
