// `orcrawl k8s`: writes the manifests of a crawl on Kubernetes.
// Promise: secrets are in one file that only its owner reads and git ignores; a file of others is never overwritten.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { countOf } from '../../../observe/figures.js';
import { STORE_IMAGE } from '../../../pods/operate/topology.js';
import { positiveNumber, wholeNumber } from '../../arguments.js';
import { EXIT } from '../../exit-codes.js';
import { figuresFile, loadFigures } from '../../machine-figures.js';
import { reportConfigProblems } from '../../pods-flags.js';
import { complain, say, shown } from '../../terminal.js';
import { startsWith, writeMade } from './made-files.js';
import { largeCount } from './plan.js';

interface K8sFlags {
  readonly config: string;
  readonly output: string;
  readonly name: string;
  readonly namespace?: string;
  readonly image: string;
  readonly podsPerReplica: number;
  readonly stores?: number;
  readonly storeImage: string;
  readonly storeMemoryMb?: number;
  readonly pages?: number;
  readonly hours: number;
  readonly volumeGb?: number;
  readonly storageClass?: string;
  readonly existingSecret?: string;
  readonly filesInImage?: string;
  readonly serviceMonitor?: boolean;
  readonly serviceAccount?: string;
  readonly privatePort?: number[];
  readonly backup?: boolean;
  readonly force?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl k8s --config crawl.yaml --output k8s/         on stores that you have
  $ orcrawl k8s --config crawl.yaml --stores 4            with four Redis of its own
  $ orcrawl k8s --config crawl.yaml --pages 1e8 --hours 48 --pods-per-replica 4
  $ orcrawl k8s --config crawl.yaml --service-monitor --existing-secret redis-login
  $ kubectl apply -k k8s/

The image is made by the Dockerfile of orcrawl's repository: docs/kubernetes.md.
`;

export function addK8sCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('k8s')
    .summary('write Kubernetes manifests for a crawl on pods')
    .description(
      'Writes plain manifests and a kustomization.yaml: a StatefulSet whose ordinal is its pod, volumes, a headless ' +
        'service, the configuration and its secrets, probes, a PodDisruptionBudget and a NetworkPolicy.',
    )
    .requiredOption('--config <FILE>', 'the YAML file (docs/pods.md)')
    .option('--output <DIR>', 'folder to write', 'k8s')
    .option('--backup', 'keep existing files under another name')
    .option('--force', 'overwrite files that orcrawl k8s did not write')
    .optionsGroup('Objects:')
    .option('--name <NAME>', 'prefix of all object names', objectName, 'orcrawl')
    .option('--namespace <NAME>', 'namespace of all objects (default: kubectl’s)', objectName)
    .option('--image <IMAGE>', 'image of the crawl', 'orcrawl:latest')
    .option('--pods-per-replica <N>', 'pods of the crawl in one container', wholeNumber(1, 1_024), 1)
    .optionsGroup('Stores and volumes:')
    .option(
      '--stores <N>',
      'also start N Redis servers, one per pod, instead of the stores in the file',
      wholeNumber(1, 1_024),
    )
    .option('--store-image <IMAGE>', 'their image, such as valkey/valkey:8-alpine', STORE_IMAGE)
    .option('--store-memory-mb <MB>', 'memory of each store (default: by --pages, else 2048)', wholeNumber(64))
    .option('--pages <N>', 'pages to plan volumes and stores for (default: max_pages of the file)', largeCount)
    .option('--hours <N>', 'hours they may take', positiveNumber, 24)
    .option('--volume-gb <GB>', 'size of each volume (default: by --pages, else 100)', wholeNumber(1))
    .option('--storage-class <NAME>', 'class of the volumes (default: the cluster’s)', objectName)
    .optionsGroup('Configuration:')
    .option('--existing-secret <NAME>', 'a Secret that you made, in place of secret.yaml', objectName)
    .option('--files-in-image <DIR>', 'seeds, excluded domains and handler are in this folder of the image')
    .option(
      '--service-account <NAME>',
      'a ServiceAccount that you made, such as one with a role for the bucket',
      objectName,
    )
    .option(
      '--private-port <N...>',
      'ports that the crawl may also reach at private addresses, such as 9000 of an object store in the cluster',
      eachPort,
    )
    .option('--service-monitor', 'also a ServiceMonitor for the Prometheus operator')
    .optionsGroup('Options:')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: K8sFlags) => onExit(await k8s(flags)));
}

/** Names of objects are labels of DNS; ours get endings. */
function objectName(text: string): string {
  if (/^[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('Expected at most 40 lower-case letters, digits and "-".');
}

const port = wholeNumber(1, 65_535);
const eachPort = (text: string, earlier: readonly number[] = []): number[] => [...earlier, port(text)];

const SECRET_FILE = 'secret.yaml';

async function k8s(flags: K8sFlags): Promise<number> {
  const { k8sFiles } = await import('../../../pods/operate/k8s/k8s.js');
  const { MARK } = await import('../../../pods/operate/k8s/manifests.js');
  const folder = resolve(flags.output);
  const earlierSecret = await readFile(join(folder, SECRET_FILE), 'utf8').catch(() => undefined);
  const machine = await loadFigures(figuresFile());
  const { config: configFile, ...rest } = flags;
  const made = await k8sFiles({ ...rest, configFile, earlierSecret, machine }).catch((error: unknown) => {
    reportConfigProblems(error);
    return undefined;
  });
  if (!made) return EXIT.misuse;
  const files = new Map([...made.files].map(([name, text]) => [join(folder, name), text]));
  const hasSecret = made.files.has(SECRET_FILE);
  if (hasSecret) files.set(join(folder, '.gitignore'), `${MARK}\n${SECRET_FILE}*\n`);
  await writeMade(
    files,
    flags,
    (file) => startsWith(file, MARK),
    (file) => file === join(folder, SECRET_FILE),
  );
  const each = made.pods === made.replicas ? 'one each' : `up to ${Math.ceil(made.pods / made.replicas)} each`;
  say();
  say(
    `  Crawl:    ${countOf(made.pods, 'pod')} in ${countOf(made.replicas, 'container')}, ${each}; image ${shown(flags.image)}`,
  );
  say(`  Each:     ${made.cpuMillis / 1_000} cores and ${made.memoryMb} MB requested, volumes of ${made.volumeGb} GB`);
  if (hasSecret)
    say(`  Secrets:  in ${SECRET_FILE} only, which git ignores; use --existing-secret to keep them elsewhere`);
  say();
  say(`Start it with: kubectl apply -k ${shown(flags.output)}`);
  for (const warning of made.warnings) complain(`warning: ${shown(warning, 500)}`);
  return EXIT.done;
}
