// What the manifests of a crawl and of its stores share: names, labels, rights, volumes.
import type { PodsConfig } from '../../config/types.js';
import type { StoreServer } from '../topology.js';
import type { ClusterConfig } from './cluster-config.js';
import type { ContainerResources } from './resources.js';

export type Manifest = Readonly<Record<string, unknown>>;

export interface ManifestOptions {
  /** Begins the name of every object. */
  readonly name: string;
  readonly namespace: string | undefined;
  readonly image: string;
  /** As it is inside the cluster. */
  readonly config: PodsConfig;
  readonly cluster: ClusterConfig;
  /** A Secret that exists already, in place of one of ours. */
  readonly existingSecret: string | undefined;
  readonly podsPerReplica: number;
  readonly resources: ContainerResources;
  readonly volumeGb: number;
  readonly storageClass: string | undefined;
  readonly hasServiceMonitor: boolean;
  /** Its identity in the cluster, for a role of the provider. */
  readonly serviceAccount: string | undefined;
  /** Ports that the crawl may reach at private addresses, beside those of its stores. */
  readonly privatePorts: readonly number[];
  /** The stores to start too. */
  readonly stores: { readonly server: StoreServer; readonly volumeGb: number } | undefined;
}

export const secretName = ({ name, existingSecret }: ManifestOptions): string => existingSecret ?? `${name}-secrets`;

/** What belongs together has these labels. */
export function selectorOf(name: string, component = 'crawl'): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'orcrawl',
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/component': component,
  };
}

export function meta({ name, namespace }: ManifestOptions, suffix = '', component = 'crawl'): Manifest {
  return {
    name: `${name}${suffix}`,
    ...(namespace !== undefined && { namespace }),
    labels: selectorOf(name, component),
  };
}

export const SAFE_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

export const safePod = (user: number) => ({
  ...{ runAsNonRoot: true, runAsUser: user, runAsGroup: user, fsGroup: user },
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
});

export function claim(name: string, gigabytes: number, { storageClass }: ManifestOptions): Manifest {
  return {
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: `${gigabytes}Gi` } },
    },
  };
}

export function disruptionBudget(metadata: Manifest, labels: Record<string, string>): Manifest {
  return {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  };
}
