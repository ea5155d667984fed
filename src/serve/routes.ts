// The table of the API: every path and what answers it. The OpenAPI document is made of the same list.
import { batchRoute } from './api/batch.js';
import { crawlRoute, previewRoute } from './api/crawl.js';
import { extractRoute, extractStatusRoute } from './api/extract.js';
import { activeRoute, cancelRoute, errorsRoute, statusRoute } from './api/jobs.js';
import { mapRoute } from './api/map.js';
import { monitorRoutes } from './api/monitor.js';
import { scrapeRoute } from './api/scrape.js';
import { searchRoute } from './api/search.js';
import { concurrencyRoute, creditRoute, historyRoute, queueRoute, tokenUsageRoute } from './api/team.js';
import type { App } from './app.js';
import type { Handle, Route } from './http/router.js';
import { readRoute } from './reader/read.js';

export interface OtherRoutes {
  readonly metrics: Handle;
  readonly openapi: Handle;
  readonly docs: Handle;
  readonly mcp: Handle;
  readonly console: readonly Route[];
}

export function routesOf(app: App, other: OtherRoutes): Route[] {
  return [
    ...versionRoutes(app, 'v2'),
    ...versionRoutes(app, 'v1'),
    ...monitorRoutes(app),
    route('GET', '/read/*', readRoute(app)),
    route('GET', '/metrics', other.metrics),
    route('GET', '/openapi.json', other.openapi),
    route('GET', '/docs', other.docs),
    route('POST', '/mcp', other.mcp),
    route('GET', '/mcp', other.mcp),
    route('DELETE', '/mcp', other.mcp),
    ...other.console,
  ];
}

function versionRoutes(app: App, version: 'v1' | 'v2'): Route[] {
  const at = `/${version}`;
  return [
    route('POST', `${at}/scrape`, scrapeRoute(app)),
    route('POST', `${at}/crawl`, crawlRoute(app, version)),
    route('POST', `${at}/crawl/params-preview`, previewRoute(app)),
    route('GET', `${at}/crawl/active`, activeRoute(app)),
    route('GET', `${at}/crawl/:id`, statusRoute(app, 'crawl', version)),
    route('DELETE', `${at}/crawl/:id`, cancelRoute(app, 'crawl')),
    route('GET', `${at}/crawl/:id/errors`, errorsRoute(app, 'crawl')),
    route('POST', `${at}/batch/scrape`, batchRoute(app, version)),
    route('GET', `${at}/batch/scrape/:id`, statusRoute(app, 'batch', version)),
    route('DELETE', `${at}/batch/scrape/:id`, cancelRoute(app, 'batch')),
    route('GET', `${at}/batch/scrape/:id/errors`, errorsRoute(app, 'batch')),
    route('POST', `${at}/map`, mapRoute(app, version)),
    route('POST', `${at}/search`, searchRoute(app, version)),
    route('POST', `${at}/extract`, extractRoute(app)),
    route('GET', `${at}/extract/:id`, extractStatusRoute(app)),
    route('GET', `${at}/concurrency-check`, concurrencyRoute(app)),
    route('GET', `${at}/team/credit-usage`, creditRoute(app)),
    route('GET', `${at}/team/token-usage`, tokenUsageRoute()),
    route('GET', `${at}/team/credit-usage/historical`, historyRoute()),
    route('GET', `${at}/team/token-usage/historical`, historyRoute()),
    route('GET', `${at}/team/queue-status`, queueRoute(app)),
  ];
}

const route = (method: string, path: string, handle: Handle): Route => ({ method, path, handle });
