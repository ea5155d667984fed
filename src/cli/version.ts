// What the package.json of this package says, read on first use.
import { createRequire } from 'node:module';

interface OwnPackage {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** One folder deep, in the source as in the bundle: the path holds in both. */
export function ownPackage(): OwnPackage {
  return createRequire(import.meta.url)('../../package.json') as OwnPackage;
}

export function version(): string {
  return ownPackage().version;
}
