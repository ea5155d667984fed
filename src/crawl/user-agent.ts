// The default User-Agent.
import { createRequire } from 'node:module';

let userAgent: string | undefined;

/** Names the crawler and its version; read when the first crawler is made, not at import. */
export function defaultUserAgent(): string {
  if (userAgent === undefined) {
    // One folder deep, as the chunks of the build are.
    const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
    userAgent = `Mozilla/5.0 (compatible; orcrawl/${version})`;
  }
  return userAgent;
}
