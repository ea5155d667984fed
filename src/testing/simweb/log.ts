// What the server saw: one packed row per request, in order of arrival, with monotonic times.
// Some 40 bytes per request in chunks of typed arrays; bounded; counters go on when the rows are full.

/** Headers kept with each request, by their lower-case names. */
export const LOGGED_HEADERS = [
  'user-agent',
  'cookie',
  'if-none-match',
  'if-modified-since',
  'referer',
  'accept-encoding',
  'authorization',
] as const;
export type LoggedHeader = (typeof LOGGED_HEADERS)[number];

/** A request as the synthetic web saw it. */
export interface SeenRequest {
  /** The host's number, or -1 for an address outside this web. */
  readonly host: number;
  /** The method, or `(connect)` for a connection broken before any request. */
  readonly method: string;
  /** Path and query as requested. */
  readonly path: string;
  /** The page's number if the path is that of a page. */
  readonly page: number | undefined;
  /** How often the page had changed when it was answered: what was true, whatever was said. Undefined without a page. */
  readonly version: number | undefined;
  /** 0 when no status was sent. */
  readonly status: number;
  /** Milliseconds since the web started, by a clock that never runs backwards. */
  readonly startMs: number;
  /** When the last byte was handed to the system or the connection broke; undefined while open. */
  readonly endMs: number | undefined;
  /** Requests with the same number came over the same connection. */
  readonly connection: number;
  /** The headers that the log keeps. */
  readonly headers: Partial<Readonly<Record<LoggedHeader, string>>>;
}

/** Smallest gaps seen by one host, in milliseconds; Infinity with fewer than two requests. */
export interface Gaps {
  /** How many requests were compared. */
  readonly requests: number;
  /** From the latest end so far to the next start; negative when two requests overlapped. */
  readonly endToStartMs: number;
  /** From one start to the next. */
  readonly startToStartMs: number;
}

/** Which requests are wanted. */
export interface RequestFilter {
  /** Of this host. */
  readonly host?: number;
  /** Exact path with query. */
  readonly path?: string;
  /** With this status. */
  readonly status?: number;
  /** With this method. */
  readonly method?: string;
  /** At most this many, the first ones. */
  readonly limit?: number;
}

export interface RequestStart {
  readonly host: number;
  readonly method: string;
  readonly path: string;
  readonly page: number;
  readonly connection: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What tests ask of the log. */
export interface LogQueries {
  /** Requests begun, of one host or of all. */
  served(host?: number): number;
  /** The requests that match, in order of arrival. */
  requests(filter?: RequestFilter): SeenRequest[];
  /** The smallest gaps between the requests of a host. */
  gaps(host: number): Gaps;
  /** For every host that got a request. */
  gapsByHost(): Map<number, Gaps>;
  /** The highest number of requests begun in any window of this length, of one host or of all. */
  maxInWindow(windowMs: number, host?: number): number;
  /** Requests by status; 0 counts those without one. */
  statuses(): Map<number, number>;
  /** Highest number of requests open at once, of one host or of all. */
  peakOpen(host?: number): number;
  /** Requests that are open now. */
  readonly openRequests: number;
  /** Requests counted but not kept because the log was full. */
  readonly dropped: number;
}

export interface RequestLog extends LogQueries {
  /** Opens a row and returns its ticket for `end`. */
  begin(start: RequestStart): number;
  end(ticket: number, host: number, status: number, atMs?: number): void;
  shows(ticket: number, version: number): void;
  /** Milliseconds on the log's own clock. */
  now(): number;
  /** Forgets everything but the requests still open. */
  reset(): void;
}

const CHUNK = 65_536;
// Tickets carry the reset count above the row number, so that an old request cannot end a new row.
const EPOCH_UNIT = 2 ** 32;
const NOT_KEPT = CHUNK * 65_535;
const NO_HEADERS = -1;
const MAX_HEADER_SETS = 200_000;

interface Chunk {
  readonly host: Int32Array;
  readonly page: Int32Array;
  readonly version: Int32Array;
  readonly path: Int32Array;
  readonly method: Uint8Array;
  readonly status: Uint16Array;
  readonly connection: Uint32Array;
  readonly headers: Int32Array;
  readonly startMs: Float64Array;
  readonly endMs: Float64Array;
}

const newChunk = (): Chunk => ({
  host: new Int32Array(CHUNK),
  page: new Int32Array(CHUNK),
  version: new Int32Array(CHUNK).fill(-1),
  path: new Int32Array(CHUNK),
  method: new Uint8Array(CHUNK),
  status: new Uint16Array(CHUNK),
  connection: new Uint32Array(CHUNK),
  headers: new Int32Array(CHUNK),
  startMs: new Float64Array(CHUNK),
  endMs: new Float64Array(CHUNK),
});

/** Gives each distinct string a small number, up to a bound. */
function createInterner(bound: number): { id(text: string): number; text(id: number): string | undefined } {
  const ids = new Map<string, number>();
  const texts: string[] = [];
  return {
    id(text) {
      const known = ids.get(text);
      if (known !== undefined) return known;
      if (texts.length >= bound) return -1;
      ids.set(text, texts.length);
      return texts.push(text) - 1;
    },
    text: (id) => texts[id],
  };
}

export interface LogSetup {
  readonly hosts: number;
  readonly maxEntries: number;
  /** The path of a page, so that rows of pages need not keep theirs. */
  readonly pagePath: (page: number) => string;
  readonly clock?: () => number;
}

export function createRequestLog({
  hosts,
  maxEntries,
  pagePath,
  clock = () => performance.now(),
}: LogSetup): RequestLog {
  const startedMs = clock();
  const open = new Int32Array(hosts);
  let openTotal = 0;
  let epoch = 0;
  let state = newState();

  function newState() {
    return {
      chunks: [] as Chunk[],
      rows: 0,
      total: 0,
      peak: openTotal,
      served: new Uint32Array(hosts),
      peaks: Int32Array.from(open),
      paths: createInterner(maxEntries),
      methods: createInterner(256),
      headerSets: createInterner(MAX_HEADER_SETS),
    };
  }

  const now = (): number => clock() - startedMs;

  function headerSet(headers: RequestStart['headers']): number {
    let joined = '';
    for (const name of LOGGED_HEADERS) joined += `${headers[name] ?? ''}\n`;
    return joined.length === LOGGED_HEADERS.length ? NO_HEADERS : state.headerSets.id(joined);
  }

  function begin(start: RequestStart): number {
    const { host } = start;
    state.total++;
    state.peak = Math.max(state.peak, ++openTotal);
    if (host >= 0) {
      state.served[host] = (state.served[host] as number) + 1;
      const openHere = (open[host] = (open[host] as number) + 1);
      if (openHere > (state.peaks[host] as number)) state.peaks[host] = openHere;
    }
    if (state.rows >= maxEntries) return epoch * EPOCH_UNIT + NOT_KEPT;
    const row = state.rows++;
    const chunk = (state.chunks[Math.floor(row / CHUNK)] ??= newChunk());
    const at = row % CHUNK;
    chunk.host[at] = host;
    chunk.page[at] = start.page;
    chunk.path[at] = start.page >= 0 && pagePath(start.page) === start.path ? -1 : state.paths.id(start.path);
    chunk.method[at] = state.methods.id(start.method);
    chunk.connection[at] = start.connection;
    chunk.headers[at] = headerSet(start.headers);
    chunk.endMs[at] = NaN;
    chunk.startMs[at] = now();
    return epoch * EPOCH_UNIT + row;
  }

  /** The row of a ticket; undefined when it was not kept, or forgotten since. */
  function rowOf(ticket: number): [Chunk, number] | undefined {
    const row = ticket % EPOCH_UNIT;
    if (Math.floor(ticket / EPOCH_UNIT) !== epoch || row === NOT_KEPT) return undefined;
    return [state.chunks[Math.floor(row / CHUNK)] as Chunk, row % CHUNK];
  }

  function end(ticket: number, host: number, status: number, atMs = now()): void {
    openTotal--;
    if (host >= 0) open[host] = (open[host] as number) - 1;
    const [chunk, at] = rowOf(ticket) ?? [];
    if (!chunk) return;
    chunk.status[at!] = status;
    chunk.endMs[at!] = atMs;
  }

  function shows(ticket: number, version: number): void {
    const [chunk, at] = rowOf(ticket) ?? [];
    if (chunk) chunk.version[at!] = version;
  }

  function read(chunk: Chunk, at: number): SeenRequest {
    const page = chunk.page[at] as number;
    const version = chunk.version[at] as number;
    const pathId = chunk.path[at] as number;
    const endMs = chunk.endMs[at] as number;
    const headers: Partial<Record<LoggedHeader, string>> = {};
    const values = state.headerSets.text(chunk.headers[at] as number)?.split('\n');
    if (values) LOGGED_HEADERS.forEach((name, i) => values[i] && (headers[name] = values[i]));
    return {
      host: chunk.host[at] as number,
      method: state.methods.text(chunk.method[at] as number) ?? '',
      path: pathId >= 0 ? (state.paths.text(pathId) as string) : pagePath(page),
      page: page >= 0 ? page : undefined,
      version: version >= 0 ? version : undefined,
      status: chunk.status[at] as number,
      startMs: chunk.startMs[at] as number,
      endMs: Number.isNaN(endMs) ? undefined : endMs,
      connection: chunk.connection[at] as number,
      headers,
    };
  }

  function* rows(): Generator<[Chunk, number]> {
    for (let row = 0; row < state.rows; row++) yield [state.chunks[Math.floor(row / CHUNK)] as Chunk, row % CHUNK];
  }

  function requests(filter: RequestFilter = {}): SeenRequest[] {
    const { limit = Infinity } = filter;
    const found: SeenRequest[] = [];
    for (const [chunk, at] of rows()) {
      if (found.length >= limit) break;
      if (filter.host !== undefined && chunk.host[at] !== filter.host) continue;
      if (filter.status !== undefined && chunk.status[at] !== filter.status) continue;
      const seen = read(chunk, at);
      if (filter.path !== undefined && seen.path !== filter.path) continue;
      if (filter.method !== undefined && seen.method !== filter.method) continue;
      found.push(seen);
    }
    return found;
  }

  function gapsByHost(): Map<number, Gaps> {
    const lastStart = new Float64Array(hosts).fill(-Infinity);
    const latestEnd = new Float64Array(hosts).fill(-Infinity);
    const byEnd = new Float64Array(hosts).fill(Infinity);
    const byStart = new Float64Array(hosts).fill(Infinity);
    const counts = new Uint32Array(hosts);
    for (const [chunk, at] of rows()) {
      const host = chunk.host[at] as number;
      if (host < 0) continue;
      const startMs = chunk.startMs[at] as number;
      const endMs = chunk.endMs[at] as number;
      byStart[host] = Math.min(byStart[host] as number, startMs - (lastStart[host] as number));
      byEnd[host] = Math.min(byEnd[host] as number, startMs - (latestEnd[host] as number));
      lastStart[host] = startMs;
      // A request still open overlaps all later ones.
      latestEnd[host] = Math.max(latestEnd[host] as number, Number.isNaN(endMs) ? Infinity : endMs);
      counts[host] = (counts[host] as number) + 1;
    }
    const gaps = new Map<number, Gaps>();
    counts.forEach((count, host) => {
      if (count === 0) return;
      const found = { requests: count, endToStartMs: byEnd[host], startToStartMs: byStart[host] } as Gaps;
      gaps.set(host, found);
    });
    return gaps;
  }

  function maxInWindow(windowMs: number, host?: number): number {
    const starts: number[] = [];
    for (const [chunk, at] of rows()) {
      if (host === undefined || chunk.host[at] === host) starts.push(chunk.startMs[at] as number);
    }
    let most = 0;
    for (let first = 0, last = 0; last < starts.length; last++) {
      while ((starts[last] as number) - (starts[first] as number) >= windowMs) first++;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  function statuses(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const [chunk, at] of rows()) {
      const status = chunk.status[at] as number;
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return counts;
  }

  return {
    begin,
    end,
    shows,
    now,
    reset() {
      epoch++;
      state = newState();
    },
    served: (host) => (host === undefined ? state.total : (state.served[host] ?? 0)),
    requests,
    gaps: (host) => gapsByHost().get(host) ?? { requests: 0, endToStartMs: Infinity, startToStartMs: Infinity },
    gapsByHost,
    maxInWindow,
    statuses,
    peakOpen: (host) => (host === undefined ? state.peak : (state.peaks[host] ?? 0)),
    get openRequests() {
      return openTotal;
    },
    get dropped() {
      return state.total - state.rows;
    },
  };
}
