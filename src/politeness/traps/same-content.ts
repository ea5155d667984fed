// Hosts that answer every URL with the same text: soft errors, parked domains, traps that only look different.
// Promise: bounded memory (a few digests for each of the hosts last seen); a host that also has pages of its own stays.
import { hash } from 'node:crypto';
import { limitReached, LIMITS } from '../../limits.js';
import { aWholeNumber, checkOptions, type ShapeOf } from '../../option-checks.js';
import { hostPartOf } from '../url-host.js';

export interface SameContentOptions {
  /** By how many pages repeats may outnumber new texts on a host. Default 50. */
  maxRepeats?: number;
  /** Texts remembered a host. Default 16. */
  maxTexts?: number;
  /** Hosts remembered; the one longest unseen is forgotten. Default 20,000. */
  maxHosts?: number;
}

const SHAPE: ShapeOf<SameContentOptions> = {
  maxRepeats: aWholeNumber({ from: 1 }),
  maxTexts: aWholeNumber({ from: 1, to: 1_000 }),
  maxHosts: aWholeNumber({ from: 1 }),
};

export interface SameContent {
  /** Counts a page by its text; the reason when its host is refused from now on. Pages without text count for nothing. */
  see(url: string, text: string): 'SAME_CONTENT' | undefined;
  /** Whether the host of this URL was refused: for links, before they are queued. */
  refusal(url: string): 'SAME_CONTENT' | undefined;
}

interface Host {
  /** Digests in order of use. */
  readonly texts: Set<string>;
  /** Repeats less new texts, 0 or more. */
  excess: number;
}

// Enough to tell pages apart; a long page need not be digested whole.
const MAX_DIGESTED_CHARACTERS = LIMITS.digestedCharacters.max;

/**
 * Stops hosts that say the same on every page.
 *
 * @example
 * const sameContent = createSameContent({ maxRepeats: 50 });
 * if (sameContent.refusal(link) === undefined) queue(link);
 */
export function createSameContent(options: SameContentOptions = {}): SameContent {
  checkOptions('same content', options, SHAPE);
  const { maxRepeats = 50, maxTexts = 16, maxHosts = 20_000 } = options;
  /** In order of use. */
  const hosts = new Map<string, Host>();

  const judged = (host: Host | undefined): 'SAME_CONTENT' | undefined =>
    host !== undefined && host.excess >= maxRepeats ? 'SAME_CONTENT' : undefined;

  return {
    see(url, text) {
      const digest = digestOf(text);
      if (digest === undefined) return undefined;
      const name = hostPartOf(url);
      const host = hosts.get(name) ?? { texts: new Set<string>(), excess: 0 };
      hosts.delete(name);
      hosts.set(name, host);
      if (hosts.size > maxHosts) hosts.delete(hosts.keys().next().value as string);
      // A verdict stands: what trickles in from before must not take it back.
      if (judged(host)) return 'SAME_CONTENT';
      if (host.texts.delete(digest)) host.excess++;
      else host.excess = Math.max(0, host.excess - 1);
      host.texts.add(digest);
      if (host.texts.size > maxTexts) host.texts.delete(host.texts.values().next().value as string);
      return judged(host);
    },
    refusal: (url) => judged(hosts.get(hostPartOf(url))),
  };
}

/** Case, blanks and numbers do not make a text another: counters and clocks are on every page. */
function digestOf(text: string): string | undefined {
  if (text.length > MAX_DIGESTED_CHARACTERS) limitReached('digestedCharacters');
  const plain = text.slice(0, MAX_DIGESTED_CHARACTERS).toLowerCase().replace(/\d+/g, '0').replace(/\s+/g, ' ').trim();
  return plain === '' ? undefined : hash('sha1', plain, 'base64').slice(0, 16);
}
