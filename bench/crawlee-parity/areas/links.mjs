// enqueueLinks, extractUrls and what is followed.
const collect =
  (options, path = '/links', more = {}) =>
  async ({ lib, at }) => {
    const seen = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      maxConcurrency: 1,
      ...more,
      async requestHandler({ request, enqueueLinks }) {
        if (request.label === 'START') {
          const result = await enqueueLinks(typeof options === 'function' ? options({ lib, at }) : options);
          seen.push(result.processedRequests.length);
        } else
          seen.push(`${request.url} ${request.label ?? ''} ${JSON.stringify(Object.keys(request.userData).sort())}`);
      },
      failedRequestHandler: ({ request }) => void seen.push(`failed ${request.url}`),
    });
    await crawler.run([{ url: at(path), label: 'START' }]);
    return seen.map(String).sort();
  };

export const scenarios = {
  'links: defaults': collect({}),
  'links: a link with an empty href': collect({}, '/empty-link'),
  'links: selector': collect({ selector: 'a.item' }),
  'links: label': collect({ selector: 'a.item', label: 'L' }),
  'links: userData': collect({ selector: 'a.item', userData: { from: 'here' } }),
  'links: globs': collect(({ at }) => ({ globs: [at('/dir/**')] })),
  'links: globs as objects with a label': collect(({ at }) => ({ globs: [{ glob: at('/a'), label: 'GLOB' }] })),
  'links: regexps': collect({ regexps: [/\/b\?/] }),
  'links: regexps as objects': collect({ regexps: [{ regexp: /\/a$/, userData: { re: 1 } }] }),
  'links: exclude by glob': collect(({ at }) => ({ selector: 'a.item', exclude: [at('/a')] })),
  'links: exclude by regexp': collect({ selector: 'a.item', exclude: [/b\?x/] }),
  'links: limit': collect({ limit: 2 }, '/many'),
  'links: baseUrl': collect({ selector: 'a[href="relative/d"]', baseUrl: 'http://127.0.0.1:1/x/', strategy: 'all' }),
  'links: base element': collect({}, '/base'),
  'links: transformRequestFunction': collect({
    selector: 'a.item',
    transformRequestFunction: (r) => ({ ...r, label: 'T' }),
  }),
  'links: transformRequestFunction drops': collect({
    selector: 'a.item',
    transformRequestFunction: (r) => (r.url.includes('/b') ? false : r),
  }),
  'links: strategy same-hostname': collect({ strategy: 'same-hostname' }),
  'links: strategy same-origin': collect({ strategy: 'same-origin' }),
  'links: strategy same-domain': collect({ strategy: 'same-domain' }),
  'links: urls': collect(({ at }) => ({ urls: [at('/a'), at('/b'), 'https://other.example/x'] })),
  'links: skipNavigation': collect({ selector: 'a.item', skipNavigation: true }),
  'links: forefront is accepted': collect({ selector: 'a.item', forefront: true }),
  'links: globs add to no strategy': collect(({ at }) => ({ globs: ['**/nofollow', at('/a')] })),
  'links: onSkippedRequest of the call': async ({ lib, at }) => {
    const skipped = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        if (request.label)
          await enqueueLinks({
            exclude: ['**/a'],
            selector: 'a.item',
            onSkippedRequest: ({ url, reason }) => void skipped.push([url, reason]),
          });
      },
    });
    await crawler.run([{ url: at('/links'), label: 'S' }]);
    return skipped.sort();
  },
  'links: onSkippedRequest of the crawler with robots': async ({ lib, at }) => {
    const skipped = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      respectRobotsTxtFile: true,
      onSkippedRequest: ({ url, reason }) => void skipped.push([url, reason]),
      async requestHandler({ request, enqueueLinks }) {
        if (request.label) await enqueueLinks({ urls: [at('/private/x'), at('/a')] });
      },
    });
    await crawler.run([{ url: at('/links'), label: 'S' }]);
    return skipped.sort();
  },
  'links: maxCrawlDepth': async ({ lib, at }) => {
    const seen = [];
    const crawler = new lib.CheerioCrawler({
      maxCrawlDepth: 1,
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        seen.push([request.url, request.crawlDepth]);
        await enqueueLinks();
      },
    });
    await crawler.run([at('/b')]);
    return seen.sort();
  },
  'links: a whole crawl of the site': async ({ lib, at }) => {
    const seen = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        seen.push(request.url);
        await enqueueLinks();
      },
    });
    await crawler.run([at('/')]);
    return seen.sort();
  },
  'links: enqueueLinks outside of a crawler': async ({ lib, at }) => {
    const queue = await lib.RequestQueue.open();
    const { processedRequests } = await lib.enqueueLinks({ urls: [at('/a'), at('/b')], requestQueue: queue });
    return [processedRequests.length, processedRequests.map((r) => r.wasAlreadyPresent)];
  },
  'links: result of enqueueLinks': async ({ lib, at }) => {
    let got;
    const crawler = new lib.CheerioCrawler({
      async requestHandler({ request, enqueueLinks }) {
        if (request.label) got = await enqueueLinks({ selector: 'a.item' });
      },
    });
    await crawler.run([{ url: at('/links'), label: 'S' }]);
    return {
      keys: Object.keys(got).sort(),
      first: Object.keys(got.processedRequests[0])
        .filter((k) => ['requestId', 'uniqueKey', 'wasAlreadyHandled', 'wasAlreadyPresent'].includes(k))
        .sort(),
      unprocessed: got.unprocessedRequests,
    };
  },
  'links: an unknown option of enqueueLinks': async ({ lib, at }) => {
    let got;
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ enqueueLinks }) {
        try {
          await enqueueLinks({ nonsense: 1 });
          got = 'accepted';
        } catch {
          got = 'refused';
        }
      },
    });
    await crawler.run([at('/links')]);
    return got;
  },
  'links: addRequests result': async ({ lib, at }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    const result = await crawler.addRequests([at('/a'), at('/b'), at('/a')]);
    await result.waitForAllRequestsToBeAdded;
    return [result.addedRequests.length, result.addedRequests.map((r) => r.wasAlreadyPresent)];
  },
  'utils: extractUrls': async ({ lib }) =>
    lib.extractUrls?.({
      string:
        'see http://a.b and https://example.com/x?y=1#z, (http://b.example/q). 192.168.1.1 www.no.scheme http://10.0.0.1/x',
    }) ?? lib.utils.extractUrls({ string: 'x' }),
  'utils: extractUrls with commas': async ({ lib }) =>
    lib.extractUrls({ string: 'http://a.example/x,y http://b.example', urlRegExp: lib.URL_WITH_COMMAS_REGEX }),
  'utils: URL regular expressions exist': async ({ lib }) => [
    lib.URL_NO_COMMAS_REGEX instanceof RegExp,
    lib.URL_WITH_COMMAS_REGEX instanceof RegExp,
  ],
  'utils: downloadListOfUrls': async ({ lib, at }) => lib.downloadListOfUrls({ url: at('/list.txt') }),
};
