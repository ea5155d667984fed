// The engine's options: checked and frozen once, trusted afterwards.
import { CONNECT_TIMEOUT_MS } from '../../configuration-options.js';
import { CrawlError } from '../../errors.js';
import { LIMITS } from '../../limits.js';
import type { FetchWatch } from '../engine.js';
import type { Resolve } from './dns.js';

export interface HttpEngineOptions {
  /** Private, loopback and other special addresses: refused (false), allowed (true), or allowed by CIDR. */
  readonly allowPrivateAddresses?: boolean | readonly string[];
  /** Connections in use and kept idle; idle ones are closed to stay within it. Default 1,000. */
  readonly maxConnections?: number;
  /** Most connections to one address; others wait for one to become free. Default: no limit. */
  readonly maxConnectionsPerAddress?: number;
  /** Name, TCP and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** From the request sent to the response headers. Default: the visit's own limit. */
  readonly headersTimeoutMs?: number;
  /** Between two pieces of a body. Default 30,000. */
  readonly bodyIdleTimeoutMs?: number;
  /** How long a connection waits for a second request to its host. Default 2,000. */
  readonly onceIdleMs?: number;
  /** How long a connection that served several requests is kept. Default 15,000. */
  readonly hotIdleMs?: number;
  /** Response headers larger than this are refused. Default 64 KiB. */
  readonly maxHeaderBytes?: number;
  /** Whether servers that offer HTTP/2 are spoken to in it: still one request at a time per connection. Default false. */
  readonly allowH2?: boolean | undefined;
  /** Certificate authorities in PEM to trust instead of the built-in ones. */
  readonly ca?: string | readonly string[];
  /** How names become addresses; the system's way when left out. */
  readonly resolve?: Resolve;
  /** Told of every fetch that yields to others. */
  readonly watch?: FetchWatch | undefined;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

export type ResolvedEngineOptions = Readonly<
  Required<Omit<HttpEngineOptions, 'ca' | 'resolve' | 'watch' | 'allowH2'>>
> & { readonly allowH2: boolean } & Pick<HttpEngineOptions, 'ca' | 'resolve' | 'watch'>;

const NUMBERS = {
  maxConnections: 1_000,
  maxConnectionsPerAddress: Infinity,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  headersTimeoutMs: Infinity,
  bodyIdleTimeoutMs: 30_000,
  onceIdleMs: 2_000,
  hotIdleMs: 15_000,
  maxHeaderBytes: LIMITS.headerBytes.max,
} as const;

const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(NUMBERS),
  'allowPrivateAddresses',
  'allowH2',
  'ca',
  'resolve',
  'watch',
  'now',
]);

export function resolveEngineOptions(options: HttpEngineOptions): ResolvedEngineOptions {
  for (const name of Object.keys(options)) {
    if (!NAMES.has(name)) {
      throw new CrawlError('OPTION_INVALID', `unknown HTTP engine option "${name}"; known: ${[...NAMES].join(', ')}`);
    }
  }
  const allow = options.allowPrivateAddresses ?? false;
  if (typeof allow !== 'boolean' && !Array.isArray(allow)) {
    throw new CrawlError('OPTION_INVALID', 'allowPrivateAddresses must be true, false or a list of address ranges');
  }
  const numbers: Record<keyof typeof NUMBERS, number> = { ...NUMBERS };
  for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const value = options[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !(value > 0)) {
      throw new CrawlError('OPTION_INVALID', `${name} must be a positive number, not ${String(value)}`);
    }
    numbers[name] = value;
  }
  const { ca, resolve, watch, allowH2 = false, now = () => performance.now() } = options;
  return Object.freeze({ ...numbers, allowPrivateAddresses: allow, allowH2, ca, resolve, watch, now });
}
