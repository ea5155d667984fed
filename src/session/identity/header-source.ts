// Headers as a browser sends them, made by the optional package header-generator.
// Promise: a session shows one browser for as long as it is remembered; codings and the connection stay the engine's.
import { CrawlError } from '../../errors.js';
import { createRecentMap } from '../../base/recent-map.js';
import { loadPeer } from './peer.js';

type Headers = Readonly<Record<string, string>>;
interface Generator {
  getHeaders(options?: object): Record<string, string>;
}
interface GeneratorPackage {
  readonly HeaderGenerator: new (options?: object) => Generator;
}

/** What headers are generated from. */
export interface HeaderSource {
  /** The headers of a session; of a request without one, new ones. Options are header-generator's. */
  headersFor(sessionId: string | undefined, options?: object): Headers;
}

/** Sessions whose headers are remembered; a session pool has 1,000. */
const MAX_SESSIONS = 10_000;
/** What the engine decides: how bodies are coded and connections are kept. */
const OF_THE_ENGINE: ReadonlySet<string> = new Set(['accept-encoding', 'connection', 'host', 'content-length', 'te']);

let generator: Promise<Generator> | undefined;

/** Loads the package once per process: its tables take some 50 ms. */
function loadGenerator(): Promise<Generator> {
  generator ??= loadPeer<GeneratorPackage>('header-generator', 'useHeaderGenerator').then(
    ({ HeaderGenerator }) => new HeaderGenerator(),
  );
  generator.catch(() => (generator = undefined));
  return generator;
}

/** @example const headers = (await openHeaderSource({ browsers: ['firefox'] })).headersFor(session.id); */
export async function openHeaderSource(defaults: object = {}): Promise<HeaderSource> {
  const source = await loadGenerator();
  const known = createRecentMap<string, Headers>(MAX_SESSIONS);
  return {
    headersFor(sessionId, options) {
      if (options) return generated(source, { ...defaults, ...options });
      const kept = sessionId === undefined ? undefined : known.get(sessionId);
      if (kept) return kept;
      const headers = generated(source, defaults);
      if (sessionId !== undefined) known.set(sessionId, headers);
      return headers;
    },
  };
}

function generated(source: Generator, options: object): Headers {
  let made: Record<string, string>;
  try {
    made = source.getHeaders(options);
  } catch (cause) {
    throw new CrawlError('OPTION_INVALID', `headerGeneratorOptions: ${(cause as Error).message}`, { cause });
  }
  const headers = Object.entries(made).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.freeze(Object.fromEntries(headers.filter(([name]) => !OF_THE_ENGINE.has(name))));
}
