// Packages that only those install who want to look like a browser.
import { CrawlError } from '../../errors.js';

/** Where a reader finds what identities are about. */
export const IDENTITY_DOCS = 'docs/from-crawlee.md#looking-like-a-browser';

/** Loads an optional package; the error says which option wants it and how to install it. */
export async function loadPeer<Exports>(name: string, option: string): Promise<Exports> {
  try {
    return (await import(name)) as Exports;
  } catch (cause) {
    const advice = `run "npm install ${name}" (${IDENTITY_DOCS})`;
    throw new CrawlError('OPTION_INVALID', `${option} needs the package ${name}, which cannot be loaded: ${advice}`, {
      cause,
    });
  }
}
