// The packed form of a request, which the frontier stores without reading it.
// Only non-default values are written, so that a link takes little more than its URL.
import type { RequestOptions } from './request-options.js';

/** The properties of a request that survive a restart, under the short names they have on disk. */
const SHORT = {
  uniqueKey: 'k',
  method: 'm',
  payload: 'p',
  headers: 'h',
  userData: 'd',
  retryCount: 'r',
  sessionRotationCount: 'o',
  maxRetries: 'x',
  noRetry: 'n',
  loadedUrl: 'l',
  errorMessages: 'e',
  sessionId: 's',
  skipNavigation: 'v',
  keepUrlFragment: 'f',
  useExtendedUniqueKey: 'q',
  crawlDepth: 'c',
  enqueueStrategy: 'g',
  state: 't',
  handledAt: 'a',
  seeded: 'z',
  retryAfterCount: 'w',
  redirectedFrom: 'y',
  askedKey: 'i',
} as const satisfies Partial<Record<keyof RequestOptions, string>>;

const PROPERTIES = Object.entries(SHORT).filter(([long]) => long !== 'uniqueKey') as [Packable, string][];
type Packable = Exclude<keyof typeof SHORT, 'uniqueKey'>;

const LONG = Object.fromEntries(Object.entries(SHORT).map(([long, short]) => [short, long]));

/** Before the URL of a request that is only a URL and was seeded. */
const SEEDED_MARK = '!';

/** A request that is only a URL is stored as that URL; anything else as JSON, which never starts like one. */
export function packRecord(request: Pick<RequestOptions, Packable | 'url'>, customKey: string | undefined): string {
  if (customKey === undefined && isLink(request)) return packLink(request.url, request);
  let packed: Record<string, unknown> | undefined;
  if (customKey !== undefined) packed = { u: request.url, [SHORT.uniqueKey]: customKey };
  let isOnlySeeded = customKey === undefined;
  for (const [long, short] of PROPERTIES) {
    const value = request[long];
    if (isDefault(long, value)) continue;
    packed ??= { u: request.url };
    packed[short] = value;
    if (long !== 'seeded') isOnlySeeded = false;
  }
  if (!packed) return request.url;
  return isOnlySeeded ? SEEDED_MARK + request.url : JSON.stringify(packed);
}

/** How each strategy is written, made once. */
const STRATEGY_PART = new Map<string, string>(
  ['all', 'same-domain', 'same-hostname', 'same-origin'].map((name) => [name, `,"${SHORT.enqueueStrategy}":"${name}"`]),
);

/** True for what pages link to: nothing but a URL, its depth and the strategy under which it was found. */
function isLink(request: Pick<RequestOptions, Packable>): boolean {
  return (
    request.method === 'GET' &&
    !request.payload &&
    !request.retryCount &&
    !request.sessionRotationCount &&
    request.maxRetries === undefined &&
    !request.noRetry &&
    !request.loadedUrl &&
    !request.sessionId &&
    !request.skipNavigation &&
    !request.keepUrlFragment &&
    !request.useExtendedUniqueKey &&
    request.redirectedFrom === undefined &&
    !request.state &&
    !request.handledAt &&
    !request.seeded &&
    Number.isInteger(request.crawlDepth) &&
    (!request.enqueueStrategy || STRATEGY_PART.has(request.enqueueStrategy)) &&
    !request.errorMessages?.length &&
    isEmpty(request.headers) &&
    isEmpty(request.userData)
  );
}

/** The same record as the loop over all properties makes, at less than half its cost. */
function packLink(url: string, { crawlDepth, enqueueStrategy }: Pick<RequestOptions, Packable>): string {
  if (!crawlDepth && !enqueueStrategy) return url;
  const depth = crawlDepth ? `,"${SHORT.crawlDepth}":${crawlDepth}` : '';
  const strategy = enqueueStrategy ? STRATEGY_PART.get(enqueueStrategy)! : '';
  return `{"u":${JSON.stringify(url)}${depth}${strategy}}`;
}

function isEmpty(value: object | undefined): boolean {
  for (const _ in value) return false;
  return true;
}

function isDefault(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  // No retries is a setting; for other counts zero is the default.
  if (value === 0) return name !== 'maxRetries';
  if (value === 'GET') return name === 'method';
  return typeof value === 'object' && isEmpty(value);
}

export function unpackRecord(record: string): RequestOptions {
  if (record.startsWith(SEEDED_MARK)) return { url: record.slice(1), seeded: true };
  if (!record.startsWith('{')) return { url: record };
  const packed = JSON.parse(record) as Record<string, unknown> & { u: string };
  const options: Record<string, unknown> = { url: packed.u };
  for (const short in packed) {
    const long = LONG[short];
    if (long !== undefined) options[long] = packed[short];
  }
  return options as unknown as RequestOptions;
}

/** In JSON no string contains it: the quotes within would be escaped. */
const KEY_MARK = `"${SHORT.uniqueKey}":"`;

/** The own unique key of a record, if any, still escaped; without parsing the rest. */
export function keyInRecord(record: string): string {
  const at = record.startsWith('{') ? record.indexOf(KEY_MARK) : -1;
  if (at < 0) return '';
  const start = at + KEY_MARK.length;
  return record.slice(start, record.indexOf('"', start));
}
