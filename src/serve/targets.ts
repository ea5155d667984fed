// URLs that requests name: completed, checked, and refused at once where their spelling shows a private address.
// Promise: names are judged again when they are resolved, by the address guard of whatever fetches them.
import { createAddressGuard, isLocalhostName, literalAddress } from '../fetch/http/guard.js';
import { parseUrl } from '../request/url.js';
import { ApiError } from './errors.js';

export interface Targets {
  /** The URL as it will be fetched. Throws a 400 or a 403 that names `field`. */
  check(text: string, field: string): string;
}

const MAX_URL = 8_192;

export function createTargets(allowPrivate: readonly string[]): Targets {
  const guard = createAddressGuard(allowPrivate);
  return {
    check(text, field) {
      const trimmed = text.trim();
      const full = completed(trimmed);
      const url = full.length > MAX_URL ? undefined : parseUrl(full);
      if (!url || url.hostname === '')
        throw new ApiError(400, `${field}: "${text.slice(0, 200)}" is not a valid URL.`, 'URL_INVALID');
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new ApiError(400, `${field}: only http and https URLs can be fetched.`, 'URL_SCHEME');
      }
      const address = literalAddress(url.hostname) ?? (isLocalhostName(url.hostname) ? '127.0.0.1' : undefined);
      const kind = address === undefined ? undefined : guard.refusal(url.host, address);
      if (kind) {
        const message = `${field}: ${url.host} is not a public address (${kind}). Allow it with --allow-private CIDR.`;
        throw new ApiError(403, message, 'ADDRESS_REFUSED');
      }
      return url.href;
    },
  };
}

/** `example.com/page` and `example.com:8080` get a scheme; what has one keeps it, whatever it is. */
function completed(text: string): string {
  const hasPort = /^[^/:]+:\d+(?:[/?#]|$)/.test(text);
  return !hasPort && (/^[a-z][a-z0-9+.-]*:/i.test(text) || text.includes('://')) ? text : `https://${text}`;
}
