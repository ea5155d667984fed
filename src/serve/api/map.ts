// POST /v2/map and /v1/map: the URLs of a site, by the library's own map.
import { mapSite, type MappedLink } from '../../crawl/map/map.js';
import type { App } from '../app.js';
import { checked } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import { mapBody } from './schemas.js';

export interface MapWish {
  readonly search?: string | undefined;
  readonly sitemap?: 'include' | 'skip' | 'only' | undefined;
  readonly includeSubdomains?: boolean | undefined;
  readonly ignoreQueryParameters?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly timeout?: number | undefined;
}

export function mapRoute(app: App, version: string): Handle {
  return async (call) => {
    const { url, sitemapOnly, ignoreSitemap, ...body } = checked(mapBody, await call.json());
    const sitemap = body.sitemap ?? (sitemapOnly ? 'only' : ignoreSitemap ? 'skip' : 'include');
    const links = await mapFor(app, call, url, { ...body, sitemap });
    return { json: { success: true, links: version === 'v1' ? links.map((link) => link.url) : links } };
  };
}

export async function mapFor(
  app: App,
  call: Pick<Call, 'token' | 'signal'>,
  url: string,
  wish: MapWish,
): Promise<MappedLink[]> {
  const target = app.targets.check(url, 'url');
  await app.usage.charge(call.token, 1);
  const { search, sitemap, includeSubdomains, ignoreQueryParameters, limit, timeout } = wish;
  const options = { search, sitemap, includeSubdomains, ignoreQueryParameters, limit, timeoutMs: timeout };
  return app.turns.take(call.token, call.signal, () =>
    mapSite(target, { ...options, allowPrivateAddresses: app.allowPrivate, signal: call.signal }, false),
  );
}
