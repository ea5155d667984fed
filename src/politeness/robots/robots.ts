// robots.txt: who may fetch what. Between fetching the file (robots-cache) and the decision to lease or skip a URL.
// Promise: any bytes give an answer, never a throw; reading is one pass, asking is one pass over the agent's rules.
import { MAX_ROBOTS_BYTES, readGroups, type RobotsGroup, type RobotsGroups } from './lines.js';
import { packRules } from './pack.js';
import { type PathForms, pathForms, pathOf, type RobotsMode } from './path.js';
import { compilePattern, matchesPath, normalizedPattern, type PathPattern } from './pattern.js';

export type { RobotsMode } from './path.js';
export { MAX_ROBOTS_BYTES };

/** How strictly robots.txt is read. */
export interface RobotsTxtOptions {
  /** Default 'rfc'. 'google' decides as Google's own parser, also where that departs from RFC 9309. */
  readonly mode?: RobotsMode;
}

interface CompiledRule {
  readonly isAllow: boolean;
  readonly path: string;
  readonly asWritten: PathPattern;
  readonly normalized: PathPattern;
}

/** What concerns one agent, its groups merged. */
interface AgentRules {
  /** Heaviest first, allowing ones before forbidding ones of the same weight: the first match decides. */
  readonly rules: readonly CompiledRule[];
  readonly crawlDelaySecs: number | undefined;
  /** Some rule spells unreserved characters as percent codes. */
  readonly hasTwoSpellings: boolean;
}

// A crawl asks under one name, perhaps two.
const MAX_AGENTS_KEPT = 4;

/**
 * The rules of a robots.txt file.
 *
 * @example
 * const robots = RobotsTxt.parse('User-agent: *\nDisallow: /private/\nCrawl-delay: 2');
 * robots.isAllowed('https://example.com/private/page', 'MyBot/1.0'); // false
 * robots.crawlDelay('MyBot/1.0'); // 2
 */
export class RobotsTxt {
  readonly #groups: RobotsGroups;
  readonly #mode: RobotsMode;
  readonly #agents = new Map<string, AgentRules>();

  private constructor(groups: RobotsGroups, mode: RobotsMode) {
    this.#groups = groups;
    this.#mode = mode;
  }

  /** Reads the first 500 KiB; a line cut by that limit counts as missing. */
  static parse(input: Uint8Array | string, options: RobotsTxtOptions = {}): RobotsTxt {
    const mode = options.mode === 'google' ? 'google' : 'rfc';
    return new RobotsTxt(readGroups(input, mode), mode);
  }

  /**
   * Whether this agent may fetch the URL. The URL is best given as it goes on the wire (percent-encoded); one that
   * can be spelt in two ways is allowed only if it is under both.
   */
  isAllowed(url: string, userAgent: string): boolean {
    const { rules, hasTwoSpellings } = this.#rulesFor(userAgent);
    if (rules.length === 0) return true;
    const path = pathOf(url);
    if (path === '/robots.txt') return true;
    const forms = pathForms(path, this.#mode);
    if (!isAllowedAsWritten(rules, forms)) return false;
    if (this.#mode === 'google' || !(hasTwoSpellings || forms.isForeign)) return true;
    return decide(rules, (rule) => matchesPath(rule.normalized, forms.normalized));
  }

  /** Seconds between requests that the agent's group asks for. Callers bound it: a file may say anything. */
  crawlDelay(userAgent: string): number | undefined {
    return this.#rulesFor(userAgent).crawlDelaySecs;
  }

  /** Every Sitemap line of the file, wherever it stands, as written. */
  get sitemaps(): readonly string[] {
    return this.#groups.sitemaps;
  }

  /**
   * Only what concerns one agent, and the sitemaps, as a robots.txt of at most `maxBytes`. When everything fits,
   * `parse(pack)` decides the same for that agent. Otherwise it forbids more, never less: allowing rules are left
   * out first, then forbidding ones are shortened. Needs 64 bytes or more.
   */
  packFor(userAgent: string, maxBytes: number): string {
    const { rules, crawlDelaySecs } = this.#rulesFor(userAgent);
    return packRules({ rules, crawlDelaySecs, sitemaps: this.sitemaps }, maxBytes);
  }

  #rulesFor(userAgent: string): AgentRules {
    const token = this.#mode === 'google' ? userAgent.toLowerCase() : productToken(userAgent);
    const known = this.#agents.get(token);
    if (known) return known;
    const compiled = compileRules(findGroups(this.#groups.byAgent, token, this.#mode), this.#mode);
    if (this.#agents.size >= MAX_AGENTS_KEPT) this.#agents.clear();
    this.#agents.set(token, compiled);
    return compiled;
  }
}

/**
 * The name under which a User-Agent header looks for its group: of `Mozilla/5.0 (compatible; MyBot/1.0; …)` the
 * name after "compatible", else the first name, without version, in lower case.
 */
export function productToken(userAgent: string): string {
  const text = userAgent.slice(0, 1_000).trim();
  const named = /\bcompatible;\s*([^\s/;()]+)/i.exec(text)?.[1];
  if (named !== undefined) return named.toLowerCase();
  const end = text.search(/[/(]/);
  if (end < 0) return text.toLowerCase();
  return (/^[^\s]*/.exec(text.slice(0, end))?.[0] ?? '').toLowerCase();
}

/** The agent's own groups; else those of the longest name it extends (`mybot` for `mybot-news`); else everybody's. */
function findGroups(byAgent: RobotsGroups['byAgent'], token: string, mode: RobotsMode): readonly RobotsGroup[] {
  const own = token === '*' ? undefined : byAgent.get(token);
  if (own) return own;
  if (mode === 'rfc') {
    for (let end = token.lastIndexOf('-'); end > 0; end = token.lastIndexOf('-', end - 1)) {
      const family = byAgent.get(token.slice(0, end));
      if (family) return family;
    }
  }
  return byAgent.get('*') ?? [];
}

function compileRules(groups: readonly RobotsGroup[], mode: RobotsMode): AgentRules {
  const byRule = new Map<string, CompiledRule>();
  let crawlDelaySecs: number | undefined;
  const add = (isAllow: boolean, path: string): void => {
    const key = `${isAllow ? '+' : '-'}${path}`;
    if (byRule.has(key)) return;
    const asWritten = compilePattern(path, mode);
    byRule.set(key, { isAllow, path, asWritten, normalized: normalizedPattern(path, mode) ?? asWritten });
  };
  for (const group of groups) {
    for (const { isAllow, path } of group.rules) {
      add(isAllow, path);
      // Google lets a rule that allows an index page allow its folder's own URL.
      if (mode === 'google' && isAllow) {
        const folder = path.slice(0, path.lastIndexOf('/') + 1);
        if (path.startsWith('index.htm', folder.length)) add(true, `${folder}$`);
      }
    }
    if (group.crawlDelaySecs !== undefined) crawlDelaySecs = Math.max(crawlDelaySecs ?? 0, group.crawlDelaySecs);
  }
  const rules = [...byRule.values()];
  rules.sort((a, b) => b.path.length - a.path.length || Number(b.isAllow) - Number(a.isAllow));
  return { rules, crawlDelaySecs, hasTwoSpellings: rules.some((rule) => rule.normalized !== rule.asWritten) };
}

function isAllowedAsWritten(rules: readonly CompiledRule[], { asWritten }: PathForms): boolean {
  const [written, decoded] = asWritten as [string, string?];
  return decide(
    rules,
    ({ asWritten: pattern }) =>
      matchesPath(pattern, written) || (decoded !== undefined && matchesPath(pattern, decoded)),
  );
}

function decide(rules: readonly CompiledRule[], matches: (rule: CompiledRule) => boolean): boolean {
  for (const rule of rules) if (matches(rule)) return rule.isAllow;
  return true;
}
