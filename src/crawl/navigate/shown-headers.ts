// What requests show of their sender: our name and a session's header set, or those of a browser for whoever asks for it.
// Promise: nothing is generated unless an option, a hook or a request asks for it.
import type { HeaderSource } from '../../session/identity/header-source.js';
import { impersonates, WITH_ROBOTS } from '../../session/identity/rules.js';
import { CrawlError } from '../../errors.js';
import type { HeaderWish } from '../../fetch/http/send-request.js';
import { warnOnce } from '../../option-checks.js';
import type { Session } from '../../session/session.js';
import type { ResolvedOptions } from '../options/options.js';

type Headers = Readonly<Record<string, string>>;

export interface ShownHeaders {
  /** What the crawl's requests show in place of our name and header set; undefined: those. */
  readonly instead: ((url: string, session: Session | undefined) => Headers) | undefined;
  /** Changes the headers of one request that asks for generated ones; `usual` are those that nobody chose. */
  change(headers: Record<string, string>, usual: Headers, wish: HeaderWish, session?: Session): Promise<void>;
}

export interface ShownHeadersParts {
  readonly options: ResolvedOptions;
  /** The user agent that the user gave for a URL, if any. */
  readonly chosenUserAgentFor: (url: string) => string | undefined;
}

/** Loads the generator now if the crawl wants it: a missing package shows before the first request. */
export async function openShownHeaders({ options, chosenUserAgentFor }: ShownHeadersParts): Promise<ShownHeaders> {
  const { useHeaderGenerator, headerGeneratorOptions, robotsAgent, impersonateWithRobots } = options;
  let source: Promise<HeaderSource> | undefined;
  const load = () =>
    (source ??= import('../../session/identity/header-source.js').then(({ openHeaderSource }) =>
      openHeaderSource({ httpVersion: options.http2 ? '2' : '1', ...headerGeneratorOptions }),
    ));
  const generated = useHeaderGenerator ? await load() : undefined;
  const isHidden = impersonates(options.httpClient);
  const ownAgent = (url: string): Headers => {
    const userAgent = chosenUserAgentFor(url);
    return userAgent === undefined ? {} : { 'user-agent': userAgent };
  };

  return {
    instead:
      generated || isHidden
        ? (url, session) => ({ ...generated?.headersFor(session?.id), ...ownAgent(url) })
        : undefined,
    async change(headers, usual, { useHeaderGenerator: wanted, headerGeneratorOptions: wishes }, session) {
      if (wanted === false || (wanted === undefined && !wishes) || isHidden) return;
      if (robotsAgent !== undefined && !impersonateWithRobots) {
        if (wanted) throw new CrawlError('REQUEST_INVALID', `"useHeaderGenerator" of a request ${WITH_ROBOTS}`);
        return warnOnce('headerGeneratorOptions', `"headerGeneratorOptions" has no effect: it ${WITH_ROBOTS}`);
      }
      let made: Headers;
      try {
        made = (await load()).headersFor(session?.id, wishes);
      } catch (error) {
        source = undefined;
        // Crawlee's scripts say how headers are made without asking for them: there they always are.
        if (wanted || !(error instanceof CrawlError) || !error.message.includes('npm install')) throw error;
        return warnOnce('headerGeneratorOptions', `"headerGeneratorOptions" has no effect: ${error.message}`);
      }
      for (const [name, value] of Object.entries(made)) {
        if (headers[name] === undefined || headers[name] === usual[name]) headers[name] = value;
      }
    },
  };
}
