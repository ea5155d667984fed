// The synthetic web: a deterministic site farm on loopback, for tests, demos and measurements.
// Promise: same seed, same bytes; everything served is counted with its times; close() leaves nothing open.
import type { LookupFunction } from 'node:net';
import type { Inside } from './process/inside.js';
import type { SimwebOptions } from './knobs.js';
import type { Gaps, LogQueries, RequestFilter, SeenRequest } from './log.js';
import type { MappedUrl } from './pages/map.js';
import { SIMWEB_PATHS } from './pages/paths.js';
import type { ServedAnswer } from './respond.js';
import type { SimwebServer } from './server.js';
import type { SimwebUrls } from './pages/urls.js';

/**
 * A running synthetic web.
 *
 * @example
 * const web = await Simweb.start({ seed: 7, hosts: 20, pagesPerHost: 50, crossHostLinks: 0.1 });
 * await crawler.run(web.seeds());
 * assert.equal(web.served(), [...web.allUrls()].length);
 * await web.close();
 */
export class Simweb implements SimwebUrls {
  /** The special paths that every host serves under `/_/`. */
  static readonly paths = SIMWEB_PATHS;

  readonly #inside: Inside;
  #closing: Promise<void> | undefined;

  private constructor(inside: Inside) {
    this.#inside = inside;
  }

  /** Starts a web; throws `OPTION_INVALID` for a wrong option. */
  static async start(options: SimwebOptions = {}): Promise<Simweb> {
    const { openSimweb } = await import('./process/inside.js');
    return new Simweb(await openSimweb(options));
  }

  get hosts(): number {
    return this.#inside.urls.hosts;
  }

  /** As given to `start`, or its default. */
  get pagesPerHost(): number {
    return this.#inside.urls.pagesPerHost;
  }

  get topics(): readonly string[] {
    return this.#inside.urls.topics;
  }

  /** The port (of host 0). */
  get port(): number {
    return this.#inside.server.ports.listening[0] as number;
  }

  /** All ports, for a process that makes the same URLs. */
  get ports(): SimwebServer['ports'] {
    return this.#inside.server.ports;
  }

  /** The certificate (PEM) that clients must trust; undefined without TLS. */
  get certificate(): string | undefined {
    return this.#inside.cert;
  }

  origin(host: number): string {
    return this.#inside.urls.origin(host);
  }

  url(host?: number, pageOrPath?: number | string): string {
    return this.#inside.urls.url(host, pageOrPath);
  }

  seeds(): string[] {
    return this.#inside.urls.seeds();
  }

  allUrls(): Generator<string> {
    return this.#inside.urls.allUrls();
  }

  map(): Generator<MappedUrl> {
    return this.#inside.urls.map();
  }

  linksOf(host: number, page: number): string[] {
    return this.#inside.urls.linksOf(host, page);
  }

  sourceOf(host: number): number {
    return this.#inside.urls.sourceOf(host);
  }

  /** Everything the server saw. */
  get log(): LogQueries {
    return this.#inside.log;
  }

  /** Requests begun, of one host or of all. */
  served(host?: number): number {
    return this.#inside.log.served(host);
  }

  /** The requests that match, in order of arrival. */
  requests(filter?: RequestFilter): SeenRequest[] {
    return this.#inside.log.requests(filter);
  }

  /** The smallest gaps between requests of a host. */
  gaps(host: number): Gaps {
    return this.#inside.log.gaps(host);
  }

  /** The highest number of requests begun in any sliding window, of one host or of all. */
  maxInWindow(windowMs: number, host?: number): number {
    return this.#inside.log.maxInWindow(windowMs, host);
  }

  /** Requests that came and are not answered yet. */
  get openRequests(): number {
    return this.#inside.log.openRequests;
  }

  /** The highest number of requests open at once, of one host or of all. */
  peakOpen(host?: number): number {
    return this.#inside.log.peakOpen(host);
  }

  /** Connections accepted so far. */
  get connections(): number {
    return this.#inside.server.connections;
  }

  /**
   * Answers a path in the test's own way, on one host or on all; it wins over pages and special paths.
   *
   * @example
   * web.serve('/shop', { body: '<a href="/basket">basket</a>' });
   */
  serve(path: string, answer: ServedAnswer, host?: number): void {
    this.#inside.serve(path, answer, host);
  }

  /** Changes a page: other bytes, other ETag, later Last-Modified. Its mirrors change with it. */
  touch(host: number, page: number): void {
    this.#inside.state.touch(this.sourceOf(host), page, Date.now());
  }

  /**
   * When a page changed, by itself (`changes.perHour`) or by `touch`, in milliseconds since 1970, up to now: what was true,
   * whoever asked.
   */
  changesOf(host: number, page: number): number[] {
    return this.#inside.changes.momentsOf(host, page, Date.now());
  }

  /** Resolves this web's names (`addressing: 'names'`) to loopback, for clients that take a `lookup`. */
  get lookup(): LookupFunction {
    return this.#inside.lookup;
  }

  /** Forgets the log and all tries, so that flaky pages fail again; pages and `serve` answers stay. */
  reset(): void {
    this.#inside.log.reset();
    this.#inside.state.reset();
  }

  /** Closes every connection and listener; may be called again. */
  close(): Promise<void> {
    return (this.#closing ??= this.#inside.server.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
