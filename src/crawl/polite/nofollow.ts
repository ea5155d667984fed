// What a page allows a polite crawler to do with its links: rel=nofollow, <meta name=robots>, X-Robots-Tag.
// "noindex" is ignored here: the handler still runs and decides what to store.
import type { Capture } from '../../fetch/engine.js';
import { productToken } from '../../politeness/robots/robots.js';

const NOFOLLOW = /(?:^|[\s,])(?:nofollow|none)(?=[\s,]|$)/i;
const REL_NOFOLLOW = /(?:^|\s)nofollow(?=\s|$)/i;
/** A directive that is for one robot only begins with its name: `otherbot: nofollow`. */
const AGENT_PREFIX = /^\s*([\w*.-]+)\s*:(.*)$/s;
/** Directives with a value, which are not names of robots. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/** Whether a page's links must not be followed; `meta` are its robots directives. */
export function forbidsFollowing(capture: Capture, meta: string | null, agent: string | undefined): boolean {
  if (meta !== null && NOFOLLOW.test(meta)) return true;
  const header = capture.headers['x-robots-tag'];
  if (header === undefined) return false;
  return (Array.isArray(header) ? header : [header]).some((text) => headerForbids(text, agent));
}

/** Repeated headers come joined by commas: a name holds for what follows it, up to the next name. */
function headerForbids(text: string, agent: string | undefined): boolean {
  const token = agent === undefined ? undefined : productToken(agent);
  let isForUs = true;
  for (const part of text.slice(0, 10_000).split(',')) {
    const [, name, rest] = AGENT_PREFIX.exec(part) ?? [];
    const isName = name !== undefined && !VALUED.has(name.toLowerCase());
    if (isName) isForUs = name === '*' || name.toLowerCase() === token;
    if (isForUs && NOFOLLOW.test(isName ? rest! : part)) return true;
  }
  return false;
}

/** Whether a link may be followed. */
export type FollowRule = (url: string, rel: string) => boolean;

/** The rule for the links of a page with these `robots` directives; refused links go to `skip`. */
export function followRule(
  capture: Capture,
  robots: string | null,
  agent: string | undefined,
  skip: (url: string) => void,
): FollowRule {
  const isPageClosed = forbidsFollowing(capture, robots, agent);
  return (url, rel) => {
    if (!isPageClosed && !isNofollow(rel)) return true;
    skip(url);
    return false;
  };
}

/** Whether a link's `rel` asks not to follow it. */
export function isNofollow(rel: string): boolean {
  return rel !== '' && REL_NOFOLLOW.test(rel);
}
