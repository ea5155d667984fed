// The head of a response as handlers see it, with the names that Node's responses have; what is rarely asked is made when
// it is asked for.
import { STATUS_CODES } from 'node:http';
import type { Capture } from '../../fetch/engine.js';
import type { ResponseHead } from '../../handle/context.js';

export class PageResponse implements ResponseHead {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[]>;
  readonly url: string;
  readonly #chain: readonly string[];

  constructor({ statusCode, headers, loadedUrl, redirectChain }: Capture) {
    this.statusCode = statusCode;
    this.headers = headers as Record<string, string | string[]>;
    this.url = loadedUrl;
    this.#chain = redirectChain;
  }

  get statusMessage(): string {
    return STATUS_CODES[this.statusCode] ?? '';
  }

  get ok(): boolean {
    return this.statusCode >= 200 && this.statusCode < 300;
  }

  get complete(): boolean {
    return true;
  }

  get httpVersion(): string {
    return '1.1';
  }

  get rawHeaders(): string[] {
    return Object.entries(this.headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]));
  }

  /** The response is complete: of a stream's events only its end is still to come. */
  on(event: string, listener: () => void): this {
    if (event === 'end' || event === 'close') queueMicrotask(listener);
    return this;
  }

  get redirectUrls(): URL[] {
    return this.#chain.length === 0 ? [] : [...this.#chain.slice(1), this.url].map((url) => new URL(url));
  }
}
