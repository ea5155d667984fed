// Headers that stay the same for a session, so that its requests look like one client.
// Promise: chosen by the session's id alone, so they survive a restart; the language is always English,
// because another one would change the pages.

const ACCEPTS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
] as const;
const LANGUAGES = ['en-US,en;q=0.9', 'en-US,en;q=0.5', 'en-GB,en-US;q=0.9,en;q=0.8'] as const;

export type HeaderSet = Readonly<Record<'accept' | 'accept-language', string>>;

const SETS: readonly HeaderSet[] = ACCEPTS.flatMap((accept) =>
  LANGUAGES.map((language) => Object.freeze({ accept, 'accept-language': language })),
);

/** The header set of a session. */
export function headerSetOf(sessionId: string): HeaderSet {
  let hash = 0;
  for (let index = 0; index < sessionId.length; index++)
    hash = (Math.imul(hash, 31) + sessionId.charCodeAt(index)) >>> 0;
  return SETS[hash % SETS.length]!;
}
