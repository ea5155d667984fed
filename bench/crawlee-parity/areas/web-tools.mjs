// Sitemaps, robots.txt, social handles, text, downloads.
export const scenarios = {
  'sitemap: load': async ({ lib, at }) => (await lib.Sitemap.load(at('/sitemap.xml'))).urls,
  'sitemap: load an index': async ({ lib, at }) => (await lib.Sitemap.load(at('/sitemap-index.xml'))).urls.sort(),
  'sitemap: load text': async ({ lib, at }) => (await lib.Sitemap.load(at('/sitemap.txt'))).urls,
  'sitemap: load several': async ({ lib, at }) =>
    (await lib.Sitemap.load([at('/sitemap.xml'), at('/sitemap.txt')])).urls.sort(),
  'sitemap: missing': async ({ lib, at }) => (await lib.Sitemap.load(at('/none.xml'))).urls,
  'sitemap: tryCommonNames': async ({ lib, at }) => (await lib.Sitemap.tryCommonNames(at('/'))).urls.sort(),
  'sitemap: fromXmlString': async ({ lib }) =>
    (await lib.Sitemap.fromXmlString('<urlset><url><loc>http://x.example/1</loc></url></urlset>')).urls,
  'sitemap: parseSitemap': async ({ lib, at }) => {
    const got = [];
    for await (const item of lib.parseSitemap([{ type: 'url', url: at('/sitemap.xml') }]))
      got.push([item.loc, item.changefreq, item.priority, item.lastmod instanceof Date]);
    return got;
  },
  'sitemap: parseSitemap of a string': async ({ lib }) => {
    const got = [];
    for await (const item of lib.parseSitemap([
      { type: 'raw', content: '<urlset><url><loc>http://x.example/1</loc></url></urlset>' },
    ]))
      got.push(item.loc);
    return got;
  },
  'sitemap: discoverValidSitemaps': async ({ lib, at }) => {
    const got = [];
    for await (const url of lib.discoverValidSitemaps([at('/')])) got.push(url);
    return got.sort();
  },
  'sitemap: SitemapRequestList': async ({ lib, at }) => {
    const list = await lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')] });
    const got = [];
    for (;;) {
      const r = await list.fetchNextRequest();
      if (!r) break;
      got.push(r.url);
      await list.markRequestHandled(r);
    }
    await list.teardown?.();
    return got.sort();
  },
  'sitemap: SitemapRequestList with globs': async ({ lib, at }) => {
    const list = await lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap-index.xml')], globs: ['**/dir/**'] });
    const got = [];
    for (;;) {
      const r = await list.fetchNextRequest();
      if (!r) break;
      got.push(r.url);
      await list.markRequestHandled(r);
    }
    await list.teardown?.();
    return got;
  },
  'sitemap: a crawl of a SitemapRequestList': async ({ lib, crawl, at }) => {
    const seen = [];
    const requestList = await lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')] });
    const requestQueue = await lib.RequestQueue.open();
    await requestQueue.addRequest({ url: at('/dir/c.html') });
    const requestHandler = ({ request }) => void seen.push(request.url);
    await crawl(lib.CheerioCrawler, { requestList, requestQueue, requestHandler });
    return seen.sort();
  },
  'robots: find and isAllowed': async ({ lib, at }) => {
    const r = await lib.RobotsTxtFile.find(at('/a'));
    return [r.isAllowed(at('/a')), r.isAllowed(at('/private/x')), r.getSitemaps()];
  },
  'robots: from': async ({ lib }) => {
    const r = lib.RobotsTxtFile.from(
      'http://x.example/robots.txt',
      'User-agent: bot\nDisallow: /\n\nUser-agent: *\nAllow: /\n',
    );
    return [r.isAllowed('http://x.example/a'), r.isAllowed('http://x.example/a', 'bot')];
  },
  'robots: missing file allows all': async ({ lib }) => {
    const r = lib.RobotsTxtFile.from('http://x.example/robots.txt', '');
    return r.isAllowed('http://x.example/a');
  },
  'robots: find with options': async ({ lib, at }) => {
    const r = await lib.RobotsTxtFile.find(at('/a'), undefined, { timeoutMillis: 5000 });
    return r.isAllowed(at('/private'));
  },
  'robots: parseSitemaps': async ({ lib, at }) => {
    const r = await lib.RobotsTxtFile.find(at('/a'));
    return (await r.parseSitemaps()).urls.sort();
  },
  'robots: parseUrlsFromSitemaps': async ({ lib, at }) => {
    const r = await lib.RobotsTxtFile.find(at('/a'));
    return (await r.parseUrlsFromSitemaps()).sort();
  },
  'robots: a crawl that respects it': async ({ lib, crawl, at }) => {
    const seen = [];
    await crawl(
      lib.CheerioCrawler,
      { respectRobotsTxtFile: true, requestHandler: ({ request }) => void seen.push(request.url) },
      [at('/a'), at('/private')],
    );
    return seen;
  },
  'social: emailsFromText': async ({ lib }) =>
    lib.social.emailsFromText('a@b.example, x.y+z@sub.host.example and not@'),
  'social: phonesFromText': async ({ lib }) =>
    lib.social.phonesFromText('call +420 775 123 456 or 0207 123 4567 or 123'),
  'social: emailsFromUrls': async ({ lib }) =>
    lib.social.emailsFromUrls(['mailto:a@b.example', 'http://x.example', 'mailto:c@d.example?subject=x']),
  'social: phonesFromUrls': async ({ lib }) => lib.social.phonesFromUrls(['tel:+420775123456', 'http://x.example']),
  'social: parseHandlesFromHtml': async ({ lib, at }) => {
    const html = await (await fetch(at('/social'))).text();
    return lib.social.parseHandlesFromHtml(html);
  },
  'social: regular expressions': async ({ lib }) =>
    [
      'TWITTER_REGEX',
      'FACEBOOK_REGEX',
      'INSTAGRAM_REGEX',
      'LINKEDIN_REGEX',
      'YOUTUBE_REGEX',
      'TIKTOK_REGEX',
      'EMAIL_REGEX',
      'EMAIL_REGEX_GLOBAL',
      'TWITTER_REGEX_GLOBAL',
    ].map((k) => lib.social[k] instanceof RegExp),
  'social: the Twitter expression': async ({ lib }) =>
    [
      'https://twitter.com/someone',
      'twitter.com/some_one',
      'https://twitter.com/search?q=x',
      'https://x.example/twitter.com/a',
    ].map((s) => lib.social.TWITTER_REGEX.test(s)),
  'social: parseSocials in the context': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $, body }) => {
          got = lib.social.parseHandlesFromHtml(body).emails;
        },
      },
      [at('/social')],
    );
    return got;
  },
  'text: htmlToText': async ({ lib, at }) => lib.htmlToText(await (await fetch(at('/readable'))).text()),
  'text: htmlToText of small pieces': async ({ lib }) =>
    [
      '<p>a</p><p>b</p>',
      'a<br>b',
      '<div>a<span>b</span></div>',
      '<ul><li>x</li><li>y</li></ul>',
      '&lt;tag&gt; &amp; x',
      '  many   spaces  ',
    ].map((h) => lib.htmlToText(h)),
  'open graph: parseOpenGraph': async ({ lib, at }) => lib.parseOpenGraph(await (await fetch(at('/og'))).text()),
  'utils: sleep': async ({ lib }) => {
    const t = Date.now();
    await (lib.sleep ?? lib.utils.sleep)(60);
    return Date.now() - t >= 55;
  },
  'utils: chunk, weightedAvg, snakeCaseToCamelCase': async ({ lib }) => [
    lib.chunk([1, 2, 3], 2),
    lib.weightedAvg([1, 3], [1, 3]),
    lib.snakeCaseToCamelCase('a_b_c'),
  ],
  'utils: isDocker and isContainerized': async ({ lib }) => [
    typeof (await lib.isDocker()),
    typeof (await lib.isContainerized()),
    lib.isLambda(),
  ],
  'utils: getMemoryInfo': async ({ lib }) => Object.keys(await lib.getMemoryInfo()).sort(),
  'utils: createRequestDebugInfo': async ({ lib }) => {
    const info = lib.createRequestDebugInfo(
      new lib.Request({ url: 'http://x.example/' }),
      { statusCode: 200 },
      { extra: 1 },
    );
    return Object.keys(info).sort();
  },
  'utils: async iterables': async ({ lib }) => {
    const got = [];
    for await (const c of lib.chunkedAsyncIterable([1, 2, 3], 2)) got.push(c);
    return got;
  },
  'utils: gotScraping': async ({ lib, at }) => (await lib.gotScraping({ url: at('/a') })).statusCode,
  'files: FileDownload gives the body': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.FileDownload,
      {
        requestHandler: ({ body, contentType }) => {
          got = [body.length, contentType?.type];
        },
      },
      [at('/bytes')],
    );
    return got;
  },
  'files: FileDownload streams': async ({ lib, crawl, at }) => {
    let n = 0;
    await crawl(
      lib.FileDownload,
      {
        async streamHandler({ stream }) {
          for await (const chunk of stream) n += chunk.length;
        },
      },
      [at('/drip')],
    );
    return n;
  },
  'files: a stream that is not awaited is complete': async ({ lib, crawl, at }) => {
    const { pipeline } = await import('node:stream/promises');
    const { createWriteStream, statSync } = await import('node:fs');
    await crawl(
      lib.FileDownload,
      {
        streamHandler({ stream }) {
          void pipeline(stream, createWriteStream('file.bin'));
        },
      },
      [at('/drip')],
    );
    return statSync('file.bin').size;
  },
  'cookies: cookie helpers': async ({ lib }) => [
    lib.mergeCookies('https://example.com', ['a=1; b=2', 'b=3']),
    lib.cookieStringToToughCookie('a=1; Path=/').name,
  ],
  'patterns: tryAbsoluteURL': async ({ lib }) => [
    lib.tryAbsoluteURL('/a', 'http://x.example/b/c'),
    lib.tryAbsoluteURL('http://[', 'http://x.example'),
  ],
};
