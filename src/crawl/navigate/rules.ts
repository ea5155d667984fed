// The rules of a navigation, from the options of a crawler.
import type { ResolvedOptions } from '../options/options.js';
import type { NavigationRules } from './navigate.js';

export function navigationRulesOf(options: ResolvedOptions): NavigationRules {
  return {
    status: options,
    maxRedirects: options.maxRedirects,
    navigationTimeoutMs: options.navigationTimeoutMs,
    hookTimeoutMs: options.requestHandlerTimeoutMs,
    maxBodyBytes: options.maxBodyBytes,
    ignoreTlsErrors: options.ignoreSslErrors,
    stream: options.streamHandler !== undefined,
    persistCookiesPerSession: options.persistCookiesPerSession,
    redirects: options.polite ? 'report' : 'follow',
    additionalMimeTypes: options.additionalMimeTypes,
  };
}
