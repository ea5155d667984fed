// The options of the server, checked once.
// Promise: a server without a token is reachable from this machine only; a wrong option is named before anything starts.
import { isIP } from 'node:net';
import { specialKind, isLocalhostName, createAddressGuard } from '../fetch/http/guard.js';
import {
  aBoolean,
  aFilledString,
  aNumber,
  anObject,
  arrayOf,
  aString,
  aWholeNumber,
  findProblems,
  optionError,
} from '../option-checks.js';
import type { ModelEndpoint } from '../crawl/model/ask.js';
import { parseUrl } from '../request/url.js';

export interface ServeOptions {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0: any free one. Default 3002. */
  readonly port?: number | undefined;
  /** Default ./orcrawl-server. */
  readonly dataDir?: string | undefined;
  readonly redis?: string | undefined;
  /** Pages at once, over all jobs; scrapes have as many of their own. Default 50. */
  readonly concurrency?: number | undefined;
  /** Private address ranges that may be fetched from. */
  readonly allowPrivate?: readonly string[] | undefined;
  readonly auth?: boolean | undefined;
  readonly retentionMs?: number | undefined;
  readonly maxDiskBytes?: number | undefined;
  readonly allowScripts?: boolean | undefined;
  readonly publicHosts?: readonly string[] | undefined;
  readonly cors?: readonly string[] | undefined;
  /** Behind a proxy of yours: its X-Forwarded-Proto tells whether clients use https. Default false. */
  readonly trustProxy?: boolean | undefined;
  readonly llm?: ModelEndpoint | undefined;
  readonly searxng?: string | undefined;
  /** How long after a failed try a webhook event is tried again. For tests. */
  readonly webhookRetryMs?: readonly number[] | undefined;
}

const SHAPE = {
  host: aFilledString,
  port: aWholeNumber({ from: 0, to: 65_535 }),
  dataDir: aFilledString,
  redis: aFilledString,
  concurrency: aWholeNumber({ from: 1, to: 10_000 }),
  allowPrivate: arrayOf(aString),
  auth: aBoolean,
  retentionMs: aNumber({ above: 0 }),
  maxDiskBytes: aNumber({ above: 0 }),
  allowScripts: aBoolean,
  publicHosts: arrayOf(aFilledString),
  cors: arrayOf(aFilledString),
  trustProxy: aBoolean,
  llm: anObject,
  searxng: aFilledString,
  webhookRetryMs: arrayOf(aWholeNumber({ from: 0 })),
};

type Given = 'redis' | 'llm' | 'searxng' | 'webhookRetryMs';
export type ResolvedServeOptions = Required<
  Omit<{ [Name in keyof ServeOptions]: NonNullable<ServeOptions[Name]> }, Given>
> &
  Pick<ServeOptions, Given>;

const DAY_MS = 86_400_000;

export function resolveServeOptions(given: ServeOptions): ResolvedServeOptions {
  const problems = findProblems('serve', given, SHAPE);
  const { host = '127.0.0.1', auth = true } = given;
  if (problems.length === 0 && !auth && !isLoopback(host)) {
    problems.push(
      `without a token the server may listen on loopback only, not on ${host}: drop --no-auth, or use --host 127.0.0.1`,
    );
  }
  for (const [name, url] of Object.entries({ searxng: given.searxng, 'llm.url': given.llm?.url })) {
    if (url !== undefined && !/^https?:$/.test(parseUrl(url)?.protocol ?? ''))
      problems.push(`serve option "${name}" must be an http or https URL`);
  }
  if (problems.length > 0) throw optionError(problems);
  const allowPrivate = given.allowPrivate ?? [];
  createAddressGuard(allowPrivate);
  return {
    ...given,
    host,
    auth,
    allowPrivate,
    port: given.port ?? 3_002,
    dataDir: given.dataDir ?? './orcrawl-server',
    concurrency: given.concurrency ?? 50,
    retentionMs: given.retentionMs ?? DAY_MS,
    maxDiskBytes: given.maxDiskBytes ?? 10e9,
    allowScripts: given.allowScripts ?? false,
    publicHosts: given.publicHosts ?? [],
    cors: given.cors ?? [],
    trustProxy: given.trustProxy ?? false,
  };
}

function isLoopback(host: string): boolean {
  return isIP(host) === 0 ? isLocalhostName(host) : specialKind(host) === 'loopback';
}
