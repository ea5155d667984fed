// Which links a crawl accepts, besides robots.txt: domain lists, traps, hosts that repeat themselves, budgets.
// Checked for every link before it is queued, and for a leased request before it is sent; each refusal has a code.
import type { HttpCrawlingContext } from '../../handle/context.js';
import { type BudgetReason, createBudgets } from '../../politeness/budgets.js';
import { createDomainRules, type DomainReason, type ResolvedOverride } from '../../politeness/domain-rules.js';
import { createSameContent } from '../../politeness/traps/same-content.js';
import { createTrapRules, type TrapReason } from '../../politeness/traps/traps.js';
import type { ResolvedOptions } from '../options/options.js';

export type RefusalReason = DomainReason | TrapReason | BudgetReason | 'SAME_CONTENT';

export interface LinkPolicy {
  /** Why a link is not to be queued. One that is let in has used a part of its budgets. */
  refuseLink(url: string, depth: number): RefusalReason | undefined;
  /** What a link took that is not queued after all is there for others again. Only where something is counted. */
  readonly giveBack: ((url: string) => void) | undefined;
  /** Why a URL must not be requested, from any link: a list, or its host has enough. Only where there are such rules. */
  readonly refuseVisit: ((url: string) => RefusalReason | undefined) | undefined;
  /** A page was handled: its text counts. */
  see(context: HttpCrawlingContext): void;
  overrideFor(url: string): ResolvedOverride;
}

/** Also checks the options: their shapes are known where the rules are made. */
export function createLinkPolicy(options: ResolvedOptions): LinkPolicy {
  const { maxRequestsPerHost, maxRequestsPerDomain, maxSameContent } = options;
  const domains = createDomainRules(options.domains);
  const trapOf = options.traps === false ? undefined : createTrapRules(options.traps);
  const budgets = createBudgets({ maxPerHost: maxRequestsPerHost, maxPerDomain: maxRequestsPerDomain });
  const same = maxSameContent === Infinity ? undefined : createSameContent({ maxRepeats: maxSameContent });

  const hasRules = options.domains.exclude !== undefined || options.domains.allow !== undefined || same !== undefined;
  const isCounted =
    maxRequestsPerHost !== Infinity || maxRequestsPerDomain !== Infinity || options.domains.overrides !== undefined;

  return {
    giveBack: isCounted ? (url) => budgets.giveBack(url, domains.overrideFor(url)) : undefined,
    refuseLink(url, depth) {
      return (
        domains.refusal(url) ??
        same?.refusal(url) ??
        trapOf?.(url, depth) ??
        // Last: what is refused for another reason takes nothing from its host.
        budgets.take(url, domains.overrideFor(url))
      );
    },
    refuseVisit: hasRules ? (url) => domains.refusal(url) ?? same?.refusal(url) : undefined,
    see(context) {
      const { request } = context;
      // What a browser shows is HTML.
      const { type } = (context.contentType as { type: string } | undefined) ?? { type: 'text/html' };
      if (same && type === 'text/html') same.see(request.loadedUrl ?? request.url, context.content.text);
    },
    overrideFor: domains.overrideFor,
  };
}
