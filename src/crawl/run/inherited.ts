// What a request that a handler sends beside its visit takes over from the visit's request.
// Promise: nothing of it reaches another origin, since a header, a cookie or a payload may be a secret of its own.
import type { SendRequestOptions } from '../../handle/context.js';
import type { Request } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';

/** The options with what they leave out. The payload comes along only when the method does. */
export function inheritedBy(options: SendRequestOptions, request: Request): SendRequestOptions {
  const { url = request.url, method = request.method } = options;
  if (parseUrl(url)?.origin !== parseUrl(request.url)?.origin) return options;
  const body = method.toUpperCase() === request.method ? request.payload : undefined;
  return { url, method, headers: request.headers, body, ...options };
}
