// After the guides on sessions, proxies and avoiding blocks.
import {
  BasicCrawler,
  CheerioCrawler,
  HttpCrawler,
  ProxyConfiguration,
  Session,
  SessionError,
  SessionPool,
} from 'crawlee';
import { pathOf, type Samples } from '../site.js';

export const scenarios: Samples = {
  'sample: a session that is blocked': async ({ at }) => {
    const sessions = new Set<string>();
    const crawler = new CheerioCrawler({
      useSessionPool: true,
      persistCookiesPerSession: true,
      maxConcurrency: 1,
      sessionPoolOptions: { maxPoolSize: 3, sessionOptions: { maxErrorScore: 1, maxUsageCount: 10 } },
      async requestHandler({ session, $, request }) {
        if (session) sessions.add(session.id);
        if ($('title').text() !== 'Page A' || request.retryCount > 0) return;
        session?.retire();
        throw new Error('blocked');
      },
    });
    const { requestsFinished } = await crawler.run([at('/a')]);
    return [sessions.size, requestsFinished];
  },
  'sample: sessions in a plain crawler': async ({ at }) => {
    const scores: (number | undefined)[] = [];
    const crawler = new BasicCrawler({
      useSessionPool: true,
      sessionPoolOptions: { maxPoolSize: 1 },
      maxRequestRetries: 1,
      async requestHandler({ session, sendRequest, request }) {
        const { statusCode } = await sendRequest({ throwHttpErrors: false });
        scores.push(session?.errorScore);
        if (statusCode === 404 && request.retryCount === 0) {
          session?.markBad();
          throw new Error('not there');
        }
        session?.markGood();
      },
    });
    await crawler.run([at('/status/404')]);
    return scores.length;
  },
  'sample: a pool of sessions by itself': async () => {
    const pool = await SessionPool.open({
      maxPoolSize: 5,
      persistStateKeyValueStoreId: 'sessions',
      persistStateKey: 'MY-SESSIONS',
      createSessionFunction: async (sessionPool) => new Session({ sessionPool, userData: { made: 'here' } }),
    });
    const session = await pool.getSession();
    session.setCookies([{ name: 'a', value: '1' }], 'https://a.example');
    session.markBad();
    const [score, usable] = [session.errorScore, session.isUsable()];
    session.retire();
    const { usableSessionsCount, retiredSessionsCount } = pool;
    await pool.teardown();
    const made: unknown = session.userData['made'];
    return [
      made,
      session.getCookieString('https://a.example'),
      score,
      usable,
      usableSessionsCount,
      retiredSessionsCount,
    ];
  },
  'sample: cookies stay with their session': async ({ at }) => {
    const cookies: string[] = [];
    const crawler = new HttpCrawler({
      sessionPoolOptions: { maxPoolSize: 1 },
      maxConcurrency: 1,
      async requestHandler({ json, session, addRequests, request }) {
        if (request.label !== 'SECOND') {
          await addRequests([{ url: at('/echo'), label: 'SECOND' }]);
          return;
        }
        cookies.push((json as { cookie: string }).cookie, session?.getCookieString(request.url) ?? '');
      },
    });
    await crawler.run([at('/set-cookie')]);
    return cookies;
  },
  'sample: a new session for one error': async ({ at }) => {
    const used: string[] = [];
    const crawler = new CheerioCrawler({
      maxSessionRotations: 3,
      maxRequestRetries: 0,
      async requestHandler({ session, request }) {
        if (session) used.push(session.id);
        if (used.length < 3) throw new SessionError(`blocked at ${pathOf(request.url)}`);
      },
    });
    const { requestsFinished, requestsFailed } = await crawler.run([at('/a')]);
    return [new Set(used).size, requestsFinished, requestsFailed];
  },
  'sample: proxies in turn': async () => {
    const proxyConfiguration = new ProxyConfiguration({
      proxyUrls: ['http://u:p@one.example:8000', 'http://two.example:8001'],
    });
    const urls = [
      await proxyConfiguration.newUrl(),
      await proxyConfiguration.newUrl(),
      await proxyConfiguration.newUrl(),
    ];
    const one = await proxyConfiguration.newProxyInfo('session-1');
    const same = await proxyConfiguration.newProxyInfo('session-1');
    return [urls, one?.url === same?.url, one?.hostname, one?.port, same?.sessionId];
  },
  'sample: a function that gives proxies': async ({ at }) => {
    const asked: string[] = [];
    const proxyConfiguration = new ProxyConfiguration({
      newUrlFunction: (sessionId, options) => {
        asked.push(`${typeof sessionId} ${pathOf(options?.request?.url)}`);
        return null;
      },
    });
    const crawler = new CheerioCrawler({
      proxyConfiguration,
      async requestHandler({ proxyInfo }) {
        asked.push(`proxy ${proxyInfo?.url}`);
      },
    });
    await crawler.run([at('/a')]);
    return asked;
  },
  'sample: tiers of proxies': async ({ at }) => {
    const tiers: (number | undefined)[] = [];
    const proxyConfiguration = new ProxyConfiguration({ tieredProxyUrls: [[null], ['http://a.example:1']] });
    const crawler = new CheerioCrawler({
      proxyConfiguration,
      maxRequestRetries: 0,
      requestHandler: ({ proxyInfo }) => {
        tiers.push(proxyInfo?.proxyTier);
      },
    });
    await crawler.run([at('/a')]);
    const info = await proxyConfiguration.newProxyInfo('s', { proxyTier: 1 });
    return [tiers, info?.url];
  },
  'sample: a proxy configuration of one’s own': async () => {
    class Mine extends ProxyConfiguration {
      override async newUrl(sessionId?: string | number): Promise<string | undefined> {
        return `http://${sessionId}@mine.example:3128`;
      }
    }
    const info = await new Mine({ proxyUrls: ['http://x.example:1'] }).newProxyInfo('s1');
    return [info?.hostname, info?.port, info?.username, info?.sessionId];
  },
  'sample: statuses that block, and those that do not': async ({ at }) => {
    const told: string[] = [];
    const crawler = new CheerioCrawler({
      maxRequestRetries: 0,
      maxSessionRotations: 0,
      maxConcurrency: 1,
      sessionPoolOptions: { blockedStatusCodes: [404] },
      ignoreHttpErrorStatusCodes: [500],
      additionalHttpErrorStatusCodes: [410],
      requestHandler: async ({ request, response }) => {
        told.push(`handled ${pathOf(request.url)} ${response.statusCode}`);
      },
      failedRequestHandler: async ({ request }) => {
        told.push(`failed ${pathOf(request.url)}`);
      },
    });
    await crawler.run([403, 404, 410, 500].map((status) => at(`/status/${status}`)));
    return told.sort();
  },
};
