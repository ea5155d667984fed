// The version of this package, read on first use.
import { createRequire } from 'node:module';

export function version(): string {
  const { version: text } = createRequire(import.meta.url)('../../package.json') as { version: string };
  return text;
}
