// Crawlee's anonymizeProxySugar: a proxy with a login as one without, for browsers that cannot send one.
import { createGuardRelay } from '../../fetch/browser/relay/guard-relay.js';

/** From Crawlee, without effect: certificates of proxies are checked. */
export interface AnonymizeProxySugarOptions {
  ignoreProxyCertificate?: boolean;
}

const NOTHING: [undefined, () => Promise<void>] = [undefined, async () => undefined];

/**
 * A local proxy that sends the login of another, and how to close it; nothing for a proxy without login.
 *
 * @example
 * const [proxyUrl, close] = await anonymizeProxySugar('http://user:pass@proxy.example:8000');
 */
export async function anonymizeProxySugar(
  proxyUrl?: string,
  username?: string,
  password?: string,
  _options?: AnonymizeProxySugarOptions,
): Promise<[string | undefined, () => Promise<void>]> {
  if (!proxyUrl) return NOTHING;
  const url = new URL(proxyUrl);
  if (username || password) {
    url.username = username ?? '';
    url.password = password ?? '';
  }
  if (url.username === '' && url.password === '') return NOTHING;
  const relay = createGuardRelay({ allowPrivateAddresses: true });
  return [await relay.serverFor(url.href.replace(/\/$/, '')), () => relay.close()];
}
