// One agent's rules written as a small robots.txt for the store, which limits the bytes per host.
// Promise: read back, the pack decides as the file did; when it does not fit, it forbids more and never less.
import { limitReached } from '../../limits.js';
import type { RobotsRule } from './lines.js';

export interface RulesToPack {
  /** Heaviest first. */
  readonly rules: readonly RobotsRule[];
  readonly crawlDelaySecs: number | undefined;
  readonly sitemaps: readonly string[];
}

const HEAD = 'User-agent: *\n';
const ALLOW = 'Allow: ';
const DISALLOW = 'Disallow: ';
// Forbidding paths are cut down to this length in steps; then everything is forbidden.
const SHORTEST_CUT = 4;

const ruleLine = ({ isAllow, path }: RobotsRule): string => `${isAllow ? ALLOW : DISALLOW}${path}\n`;

export function packRules({ rules, crawlDelaySecs, sitemaps }: RulesToPack, maxBytes: number): string {
  let text = crawlDelaySecs === undefined ? HEAD : `${HEAD}Crawl-delay: ${crawlDelaySecs}\n`;
  text += packedRules(rules, maxBytes - text.length);
  let bytes = text.length;
  for (const sitemap of sitemaps) {
    const line = `Sitemap: ${sitemap}\n`;
    bytes += Buffer.byteLength(line);
    if (bytes > maxBytes) break;
    text += line;
  }
  return text;
}

/** Paths are ASCII here, so characters are bytes. */
function packedRules(rules: readonly RobotsRule[], room: number): string {
  const forbidding = rules.filter((rule) => !rule.isAllow).map(ruleLine);
  const left = room - forbidding.reduce((sum, line) => sum + line.length, 0);
  if (left < 0) {
    limitReached('robotsPackBytes');
    return shortened(rules, room);
  }
  // Lightest first: short paths open the most.
  const allowing: string[] = [];
  let used = 0;
  for (const rule of rules.filter(({ isAllow }) => isAllow).reverse()) {
    const line = ruleLine(rule);
    if (used + line.length > left) break;
    used += line.length;
    allowing.push(line);
  }
  return forbidding.join('') + allowing.join('');
}

/** A shorter prefix forbids all that the longer one did; many long paths become few. */
function shortened(rules: readonly RobotsRule[], room: number): string {
  const paths = rules.filter(({ isAllow }) => !isAllow).map(({ path }) => path);
  for (let length = paths[0]?.length ?? 0; length >= SHORTEST_CUT; length = Math.floor(length / 2)) {
    const cut = new Set(paths.map((path) => prefixOf(path, length)));
    const text = [...cut].map((path) => `${DISALLOW}${path}\n`).join('');
    if (text.length <= room) return text;
  }
  return `${DISALLOW}/\n`;
}

/** Not through a percent code, half of which matches nothing, nor behind a `$`, which would become the end. */
function prefixOf(path: string, length: number): string {
  if (path.length <= length) return path;
  const percent = path.lastIndexOf('%', length - 1);
  let end = percent > 0 && percent > length - 3 ? percent : length;
  while (path[end - 1] === '$') end--;
  return path.slice(0, end);
}
