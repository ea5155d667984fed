// The version of this package, read when first asked for.
import { createRequire } from 'node:module';

export function version(): string {
  const { version: text } = createRequire(import.meta.url)('../../package.json') as { version: string };
  return text;
}
