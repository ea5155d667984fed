// Options that clients of Firecrawl send and that change nothing here, because they need somebody else's servers or
// promise what this one does anyway. They are accepted, and the answer says so.
// docs/serve.md lists them.
import type { ScrapeOptions } from './schemas.js';

type Without = readonly [name: string, isAsked: (options: ScrapeOptions & Others) => boolean];

interface Others {
  readonly zeroDataRetention?: boolean | undefined;
  readonly deduplicateSimilarURLs?: boolean | undefined;
  readonly enableWebSearch?: boolean | undefined;
}

const WITHOUT_EFFECT: readonly Without[] = [
  ['parsers.mode', ({ parsers }) => parsers?.some((one) => typeof one === 'object' && 'mode' in one) === true],
  ['parsers.maxPages', ({ parsers }) => parsers?.some((one) => typeof one === 'object' && 'maxPages' in one) === true],
  ['location.country', ({ location }) => location?.country !== undefined],
  ['zeroDataRetention', ({ zeroDataRetention }) => zeroDataRetention === true],
  ['deduplicateSimilarURLs', ({ deduplicateSimilarURLs }) => deduplicateSimilarURLs === true],
  ['enableWebSearch', ({ enableWebSearch }) => enableWebSearch === true],
];

/** The names of all of them, for the documentation. */
export const NAMES_WITHOUT_EFFECT: readonly string[] = WITHOUT_EFFECT.map(([name]) => name);

/** What a body asks for in vain, as a sentence. */
export function warningOf(...bodies: readonly (object | undefined)[]): string | undefined {
  const names = WITHOUT_EFFECT.filter(([, isAsked]) => bodies.some((body) => body && isAsked(body))).map(
    ([name]) => name,
  );
  return names.length === 0 ? undefined : `Without effect on this server: ${names.join(', ')}.`;
}

/** The same as a field of an answer. */
export function withWarning(...bodies: readonly (object | undefined)[]): { warning?: string } {
  const warning = warningOf(...bodies);
  return warning === undefined ? {} : { warning };
}
