// A configuration as it is inside a cluster: the user's, with the paths of a container, and without secrets.
// Promise: no password, key or certificate is left in the text; each is a named value of a Secret and read from a file.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { stringify } from 'yaml';
import { parseAddress, withoutPassword } from '../../../frontier/redis/server/address.js';
import { PodsConfigError } from '../../config/config.js';
import { type FileValues, readConfigFile } from '../../config/file.js';
import type { FileKey } from '../../config/keys.js';
import { CONFIG_DIR, SECRETS_DIR, volumePath } from './paths.js';

export interface ClusterConfigOptions {
  readonly configFile: string;
  /** The addresses of stores that the manifests start, and their password, in place of the file's. */
  readonly stores?: { readonly addresses: readonly string[]; readonly password: string } | undefined;
  /** The seeds, excluded domains and handler are in this folder of the image. */
  readonly filesInImage?: string | undefined;
}

export interface ClusterConfig {
  /** For the ConfigMap. */
  readonly yaml: string;
  /** Name → text: beside it in the ConfigMap. */
  readonly files: ReadonlyMap<string, string>;
  /** Name → value in the Secret. */
  readonly secrets: ReadonlyMap<string, Buffer>;
  readonly dataDirs: number;
  readonly warnings: readonly string[];
}

/** A ConfigMap may have 1 MiB in all, as text of the API. */
const MAX_FILES_BYTES = 900_000;
const MAX_SECRET_BYTES = 100_000;
/** One name in a ConfigMap for each file that a configuration names. */
const NAMED_FILES = [
  ['seed_file', 'seeds'],
  ['exclude_file', 'exclude'],
  ['handler', 'handler'],
] as const satisfies readonly (readonly [FileKey, string])[];
const SECRET_FILES = [
  ['redis_password_file', 'redis-password'],
  ['redis_tls_ca_file', 'redis-ca'],
  ['redis_tls_cert_file', 'redis-cert'],
  ['redis_tls_key_file', 'redis-key'],
] as const satisfies readonly (readonly [FileKey, string])[];

/** Reads the file and what it names; throws one error with all problems. */
export async function clusterConfig(options: ClusterConfigOptions): Promise<ClusterConfig> {
  const { configFile, stores, filesInImage } = options;
  const problems: string[] = [];
  const warnings: string[] = [];
  const read = await readConfigFile(configFile, problems);
  if (read === undefined || problems.length > 0) throw new PodsConfigError(problems);
  const values: Record<string, unknown> = { ...read.values };
  const folder = dirname(resolve(configFile));
  const secrets = createSecrets(problems);

  if (values.email === undefined) problems.push('email is missing: sites must be able to contact you');
  if (values.seed_file === undefined) problems.push('seed_file is missing: give a file of URLs or domains');
  if ((values.test_mode as FileValues['test_mode'])?.enabled === true) warnings.push('test_mode is left out');
  delete values.test_mode;

  if (stores) {
    for (const key of ['cluster', 'sentinel', 'pod_count', 'redis_username', 'redis_db']) delete values[key];
    for (const [key] of SECRET_FILES) delete values[key];
    values.pods = stores.addresses.map((address) => ({ redis_url: address }));
    values.redis_password = stores.password;
  }
  if (typeof values.redis_password === 'string' && values.redis_password !== '') {
    values.redis_password_file = secrets.add('redis-password', Buffer.from(values.redis_password));
  } else {
    for (const [key, name] of SECRET_FILES) {
      const path = values[key];
      if (typeof path === 'string') values[key] = await secrets.addFile(name, key, resolve(folder, path));
    }
  }
  delete values.redis_password;
  await hideAddresses(values, folder, secrets, problems, warnings);

  const dataDirs = Math.max(1, (values.data_dirs as readonly string[] | undefined)?.length ?? 1);
  values.data_dirs = Array.from({ length: dataDirs }, (_, index) => volumePath(index));
  for (const key of ['log_dir', 'state_dir', 'handoff_dir']) delete values[key];

  const files = new Map<string, string>();
  for (const [key, name] of NAMED_FILES) {
    const path = values[key];
    if (typeof path !== 'string') continue;
    const inside = `${name}${extname(path) || '.txt'}`;
    values[key] = `${filesInImage ?? CONFIG_DIR}/${inside}`;
    if (filesInImage === undefined) await takeFile(key, resolve(folder, path), inside, files, problems);
    else warnings.push(`${key} must be in the image as ${values[key] as string}`);
  }
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_FILES_BYTES) {
    problems.push(
      `the files of the configuration have ${bytes} bytes, a ConfigMap holds ${MAX_FILES_BYTES}: copy them into an ` +
        'image of your own and use --files-in-image',
    );
  }

  // A container continues what an earlier one left; the very first finds nothing and begins.
  values.resume = true;
  values.enable_prometheus = true;
  values.prometheus_host = '0.0.0.0';
  // Cores are given by the cluster, not taken by number.
  values.enable_cpu_affinity = false;
  if (problems.length > 0) throw new PodsConfigError(problems);
  return { yaml: stringify(values), files, secrets: secrets.all, dataDirs, warnings };
}

async function takeFile(
  key: FileKey,
  path: string,
  inside: string,
  files: Map<string, string>,
  problems: string[],
): Promise<void> {
  try {
    const { size } = await stat(path);
    // Counted with the others, not read.
    files.set(inside, size > MAX_FILES_BYTES ? ' '.repeat(size) : await readFile(path, 'utf8'));
  } catch (error) {
    problems.push(`${key}: ${path} cannot be read: ${(error as Error).message}`);
  }
}

interface Secrets {
  /** Where the value is in a container. */
  add(name: string, value: Buffer): string;
  addFile(name: string, key: string, path: string): Promise<string>;
  readonly all: ReadonlyMap<string, Buffer>;
}

/** The same value has one name; another value for a taken name gets a number. */
function createSecrets(problems: string[]): Secrets {
  const all = new Map<string, Buffer>();
  function add(name: string, value: Buffer): string {
    for (let n = 1; ; n++) {
      const free = n === 1 ? name : `${name}-${n}`;
      const there = all.get(free);
      if (there !== undefined && !there.equals(value)) continue;
      all.set(free, value);
      return `${SECRETS_DIR}/${free}`;
    }
  }
  return {
    all,
    add,
    async addFile(name, key, path) {
      try {
        const { size } = await stat(path);
        if (size > MAX_SECRET_BYTES) throw new Error(`it has ${size} bytes`);
        return add(name, await readFile(path));
      } catch (error) {
        problems.push(`${key}: ${path} cannot be read: ${(error as Error).message}`);
        return '';
      }
    },
  };
}

/** Takes logins and files out of the addresses of stores. */
async function hideAddresses(
  values: Record<string, unknown>,
  folder: string,
  secrets: Secrets,
  problems: string[],
  warnings: string[],
): Promise<void> {
  const hide = async (text: string, where: string, isShared: boolean): Promise<string> => {
    const address = parseAddress(isShared && !/^[a-z+]+:\/\//i.test(text) ? `redis://${text}` : text);
    if (!address) return text;
    if (address.path !== undefined) {
      problems.push(`${where} is a socket of this machine: a container cannot reach it`);
      return withoutPassword(text);
    }
    const isLocal = address.nodes.some(({ host }) => /^(localhost|127\.|::1$)/.test(host));
    if (isLocal) warnings.push(`${where} is ${address.where}: inside a container that is the container itself`);
    const { password, passwordFile, caFile, certFile, keyFile, username } = address;
    if (isShared) {
      // Its parameters are for all nodes.
      if (password !== undefined) values.redis_password_file = secrets.add('redis-password', Buffer.from(password));
      if (username !== undefined) values.redis_username ??= username;
      return address.where;
    }
    const parameters = new URLSearchParams();
    if (username !== undefined) parameters.set('username', username);
    if (password !== undefined) {
      parameters.set('password_file', secrets.add('redis-password', Buffer.from(password)));
    } else if (passwordFile !== undefined) {
      parameters.set('password_file', await secrets.addFile('redis-password', where, resolve(folder, passwordFile)));
    }
    const files = [['ca', caFile] as const, ['cert', certFile] as const, ['key', keyFile] as const];
    for (const [name, path] of files) {
      if (path === undefined) continue;
      parameters.set(name, await secrets.addFile(`redis-${name}`, where, resolve(folder, path)));
    }
    const query = parameters.toString();
    return query === '' ? address.where : `${address.where}?${query}`;
  };
  const pods = values.pods as FileValues['pods'];
  if (pods) {
    const hidden: object[] = [];
    for (const [index, pod] of pods.entries()) {
      const url = pod.redis_url;
      // An embedded store is in the data directory.
      if (url === undefined) hidden.push({ path: `${volumePath(0)}/pod_${index}` });
      else hidden.push({ redis_url: await hide(url, `pods[${index}]`, false) });
    }
    values.pods = hidden;
  }
  for (const kind of ['cluster', 'sentinel'] as const) {
    const shared = values[kind] as FileValues['cluster'];
    if (!shared?.nodes) continue;
    const nodes: string[] = [];
    for (const [index, node] of shared.nodes.entries()) nodes.push(await hide(node, `${kind}.nodes[${index}]`, true));
    values[kind] = { ...shared, nodes };
  }
}

/** Changes when something changes that only a new container reads. */
export function hashOf({ yaml, files, secrets }: Pick<ClusterConfig, 'yaml' | 'files' | 'secrets'>): string {
  const hash = createHash('sha256').update(yaml);
  for (const [name, value] of [...files, ...secrets]) hash.update(`\0${name}\0`).update(value);
  return hash.digest('hex').slice(0, 16);
}
