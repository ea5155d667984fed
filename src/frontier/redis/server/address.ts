// Where a Redis is, as one text: a server, a socket, the master that Sentinels name, or a cluster; with its database,
// user and files. Promise: `where` never has a user, a password or the name of a file that holds one.
import { readFileSync } from 'node:fs';
import { CrawlError } from '../../../errors.js';

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  /** `server`: the only node. Of the others, the nodes are asked where the master is. */
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly nodes: readonly RedisNode[];
  /** The socket of a server on this machine, in place of nodes. */
  readonly path: string | undefined;
  /** What the Sentinels call the master. */
  readonly master: string | undefined;
  readonly db: number;
  readonly isTls: boolean;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly passwordFile: string | undefined;
  /** For people. */
  readonly where: string;
}

export const REDIS_PORT = 6_379;
export const SENTINEL_PORT = 26_379;
/** The parameters of an address: `?ca=/etc/redis/ca.pem&password_file=/run/secrets/redis`. */
const PARAMETERS = ['db', 'username', 'password', 'password_file', 'ca', 'cert', 'key'] as const;
const SHAPE = /^(rediss?)(\+sentinel|\+cluster)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/i;
const SOCKET = /^unix:(?:\/\/)?(\/[^/?#][^?#]*)(?:\?([^#]*))?$/i;
const MAX_NODES = 100;
const SHOWN_NODES = 3;
const MAX_DATABASE = 1_000_000;

/** The forms of an address, for messages. */
export const ADDRESS_FORMS =
  'redis://localhost:6379, rediss://… with TLS, unix:///run/redis.sock, redis+sentinel://host,host/MASTER or redis+cluster://host,host';

/** Undefined if the text is not an address. Reads no file. */
export function parseAddress(text: string): RedisAddress | undefined {
  try {
    const socket = SOCKET.exec(text);
    return socket ? socketAddress(socket[1]!, socket[2] ?? '') : networkAddress(SHAPE.exec(text));
  } catch {
    // A broken percent-encoding.
    return undefined;
  }
}

function socketAddress(path: string, query: string): RedisAddress | undefined {
  const given = parametersOf(query);
  const db = given && database(given.db ?? '0');
  if (given === undefined || db === undefined || given.ca !== undefined || given.cert !== undefined) return undefined;
  return {
    ...{ kind: 'server', nodes: [], path: decodeURIComponent(path), master: undefined, db },
    ...{ isTls: false, caFile: undefined, certFile: undefined, keyFile: undefined },
    ...credentials('', given),
    where: `unix://${path}?db=${db}`,
  };
}

function networkAddress(match: RegExpExecArray | null): RedisAddress | undefined {
  if (!match) return undefined;
  const [, scheme = '', form = '', login = '', hosts = '', path = '', query = ''] = match;
  const kind = form === '' ? 'server' : (form.slice(1).toLowerCase() as 'sentinel' | 'cluster');
  const isTls = scheme.toLowerCase() === 'rediss';
  const usualPort = kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT;
  const nodes = hosts.split(',', MAX_NODES + 1).map((host) => parseNode(host, usualPort));
  const given = parametersOf(query);
  if (given === undefined || nodes.length > MAX_NODES || (kind === 'server' && nodes.length > 1)) return undefined;
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const master = kind === 'sentinel' ? parts.shift() : undefined;
  const db = parts.length > 1 ? undefined : database(parts[0] ?? given.db ?? '0');
  const known = nodes.filter((node) => node !== undefined);
  if (known.length < nodes.length || db === undefined) return undefined;
  if ((kind === 'sentinel' && !master) || (kind === 'cluster' && db !== 0)) return undefined;
  if (!isTls && (given.ca !== undefined || given.cert !== undefined || given.key !== undefined)) return undefined;
  if ((given.cert === undefined) !== (given.key === undefined)) return undefined;
  return {
    ...{ kind, nodes: known, path: undefined, master, db, isTls },
    ...{ caFile: given.ca, certFile: given.cert, keyFile: given.key },
    ...credentials(login, given),
    where: `${scheme}${form}://${shortened(hosts)}${path}`,
  };
}

/** A cluster of many nodes is known by the first. */
function shortened(hosts: string): string {
  const all = hosts.split(',');
  return all.length <= SHOWN_NODES ? hosts : `${all.slice(0, SHOWN_NODES).join(',')},…`;
}

/** `host`, `host:port` or `[::1]:port`. */
export function parseNode(text: string, usualPort: number): RedisNode | undefined {
  const match = /^(\[[\da-f:.]+\]|[\w.%-]+)(?::(\d{1,5}))?$/i.exec(text);
  const port = Number(match?.[2] ?? usualPort);
  if (!match || port < 1 || port > 65_535) return undefined;
  return { host: decodeURIComponent(match[1]!).replace(/^\[|\]$/g, ''), port };
}

type Given = Partial<Record<(typeof PARAMETERS)[number], string>>;

function parametersOf(query: string): Given | undefined {
  const given: Given = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const known = PARAMETERS.find((one) => one === name);
    if (known === undefined) return undefined;
    given[known] = value;
  }
  return given;
}

function database(text: string): number | undefined {
  return /^\d+$/.test(text) && Number(text) <= MAX_DATABASE ? Number(text) : undefined;
}

function credentials(login: string, given: Given): Pick<RedisAddress, 'username' | 'password' | 'passwordFile'> {
  const colon = login.indexOf(':');
  const [user, secret] = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
  return {
    username: decodeURIComponent(user) || given.username,
    password: decodeURIComponent(secret) || given.password,
    passwordFile: given.password_file,
  };
}

/** What the parts of an address and the keys of a configuration add to it, where it says nothing itself. */
export interface AddressDefaults {
  readonly db?: number | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The complete text of an address; undefined if it is not one. Never log it. */
export function completeAddress(text: string, defaults: AddressDefaults): string | undefined {
  const address = parseAddress(text);
  if (!address) return undefined;
  const { kind, path, nodes, master, isTls } = address;
  const hasLogin = address.password !== undefined || address.passwordFile !== undefined;
  const hasDb = path === undefined ? address.db !== 0 || /\/\d+$/.test(address.where) : /[?&]db=\d/.test(text);
  const db = hasDb ? address.db : (defaults.db ?? 0);
  const parameters: [string, string | undefined][] = [
    ['username', address.username ?? defaults.username],
    ['password', hasLogin ? address.password : defaults.password],
    ['password_file', hasLogin ? address.passwordFile : defaults.passwordFile],
    ...(isTls
      ? ([
          ['ca', address.caFile ?? defaults.caFile],
          ['cert', address.certFile ?? defaults.certFile],
          ['key', address.keyFile ?? defaults.keyFile],
        ] as [string, string | undefined][])
      : []),
  ];
  const query = new URLSearchParams();
  for (const [name, value] of parameters) if (value) query.set(name, value);
  if (path !== undefined) query.set('db', String(db));
  const login = query.size > 0 ? `?${query}` : '';
  if (path !== undefined) return `unix://${encodeURI(path)}${login}`;
  const hosts = nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  const place = kind === 'cluster' ? '' : kind === 'sentinel' ? `/${encodeURIComponent(master!)}/${db}` : `/${db}`;
  return `redis${isTls ? 's' : ''}${kind === 'server' ? '' : `+${kind}`}://${hosts}${place}${login}`;
}

/** An address, or a text that is none, without what is secret. */
export function withoutPassword(text: string): string {
  const address = parseAddress(text);
  if (address) return address.where;
  try {
    const url = new URL(text);
    return `${url.protocol}//${url.host}${url.pathname}`;
  } catch {
    return 'the given address';
  }
}

/** What a client needs to be let in; files are read now. The environment has what the address leaves open. */
export interface Access {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
}

export function accessTo(address: RedisAddress, env: NodeJS.ProcessEnv = process.env): Access {
  const { isTls, caFile, certFile, keyFile, where } = address;
  const read = (file: string, what: string): Buffer => {
    try {
      return readFileSync(file);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'file not found' : (error as Error).message;
      throw new CrawlError('QUEUE_UNSUITABLE', `the ${what} for Redis at ${where} cannot be read (${file}): ${reason}`);
    }
  };
  const username = address.username ?? (env.ORCRAWL_REDIS_USERNAME || undefined);
  const password = passwordOf(address, env, read);
  const file = (name: 'ca' | 'cert' | 'key', path: string | undefined, what: string) =>
    path === undefined ? {} : { [name]: read(path, what) };
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(isTls && {
      tls: {
        ...file('ca', caFile ?? (env.ORCRAWL_REDIS_CA_FILE || undefined), 'CA certificate'),
        ...file('cert', certFile, 'certificate'),
        ...file('key', keyFile, 'key'),
      },
    }),
  };
}

function passwordOf(
  address: RedisAddress,
  env: NodeJS.ProcessEnv,
  read: (file: string, what: string) => Buffer,
): string | undefined {
  if (address.password !== undefined) return address.password;
  const isGiven = address.passwordFile !== undefined;
  if (!isGiven && env.ORCRAWL_REDIS_PASSWORD) return env.ORCRAWL_REDIS_PASSWORD;
  const file = address.passwordFile ?? (env.ORCRAWL_REDIS_PASSWORD_FILE || undefined);
  // Editors and `echo` end a file with a line break, which no password has.
  return file === undefined ? undefined : String(read(file, 'password')).replace(/\r?\n$/, '');
}
