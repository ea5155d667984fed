// Small questions about single values: each script asks one function or class, without a crawl.
export const isLight = true;
const attempt = (fn) => {
  try {
    fn();
    return 'accepted';
  } catch {
    return 'refused';
  }
};
const request = (lib, more = {}) => new lib.Request({ url: 'http://x.example/a', ...more });
const session = async (lib, more = {}) => new lib.Session({ sessionPool: await lib.SessionPool.open(), ...more });
const social = (name, texts) => [
  `social: ${name}`,
  ({ lib }) => texts.map((text) => lib.social[name].test(text) && lib.social[name].lastIndex === 0),
];
const text = (what, html) => [`text: htmlToText of ${what}`, ({ lib }) => lib.htmlToText(html)];
const uniqueKey = (what, url) => [`request: unique key of ${what}`, ({ lib }) => new lib.Request({ url }).uniqueKey];
const robots = (what, lines, paths) => [
  `robots: ${what}`,
  ({ lib }) => {
    const file = lib.RobotsTxtFile.from('http://x.example/robots.txt', lines.join('\n'));
    return paths.map((path) => file.isAllowed(`http://x.example${path}`));
  },
];
const sitemap = (what, xml) => [`sitemap: ${what}`, async ({ lib }) => (await lib.Sitemap.fromXmlString(xml)).urls];
const entry = (loc, more = '') => `<urlset><url><loc>${loc}</loc>${more}</url></urlset>`;

export const scenarios = Object.fromEntries([
  uniqueKey('a fragment', 'http://x.example/a#b'),
  uniqueKey('a port', 'http://x.example:8080/a'),
  uniqueKey('a default port', 'http://x.example:80/a'),
  uniqueKey('upper case in the path', 'http://x.example/A/B'),
  uniqueKey('an encoded path', 'http://x.example/%C3%A9'),
  uniqueKey('letters beyond ASCII', 'http://x.example/é?ü=ö'),
  uniqueKey('a host beyond ASCII', 'http://bücher.example/'),
  uniqueKey('several utm parameters', 'http://x.example/?utm_a=1&b=2&utm_c=3'),
  uniqueKey('repeated parameters', 'http://x.example/?a=2&a=1'),
  uniqueKey('an empty query', 'http://x.example/?'),
  uniqueKey('white space around', '  http://x.example/a  '),
  uniqueKey('dots in the path', 'http://x.example/a/../b/./c'),
  uniqueKey('a login', 'http://me:pw@x.example/'),
  ['request: own unique key', ({ lib }) => request(lib, { uniqueKey: 'mine' }).uniqueKey],
  ['request: method is upper case', ({ lib }) => request(lib, { method: 'POST', payload: 'x' }).method],
  ['request: headers are kept', ({ lib }) => request(lib, { headers: { 'X-One': '1' } }).headers],
  ['request: payload', ({ lib }) => request(lib, { method: 'PUT', payload: 'abc' }).payload],
  ['request: noRetry', ({ lib }) => request(lib, { noRetry: true }).noRetry],
  ['request: skipNavigation', ({ lib }) => request(lib, { skipNavigation: true }).skipNavigation],
  [
    'request: keepUrlFragment in the unique key',
    ({ lib }) => new lib.Request({ url: 'http://x.example/#q', keepUrlFragment: true }).uniqueKey,
  ],
  [
    'request: userData is its own object',
    ({ lib }) => {
      const userData = { a: 1 };
      const made = request(lib, { userData });
      made.userData.a = 2;
      return [made.userData.a, Object.keys(made.userData)];
    },
  ],
  ['request: label wins over userData', ({ lib }) => request(lib, { label: 'A', userData: { label: 'B' } }).label],
  [
    'request: loadedUrl can be set',
    ({ lib }) => {
      const made = request(lib);
      made.loadedUrl = 'http://x.example/b';
      return made.loadedUrl;
    },
  ],
  [
    'request: retryCount can be set',
    ({ lib }) => {
      const made = request(lib);
      made.retryCount = 4;
      return made.retryCount;
    },
  ],
  [
    'request: maxRetries can be set',
    ({ lib }) => {
      const made = request(lib);
      made.maxRetries = 4;
      return [made.maxRetries, request(lib).maxRetries];
    },
  ],
  [
    'request: pushErrorMessage of odd values',
    ({ lib }) => {
      const made = request(lib);
      for (const odd of [1, true, null, undefined]) made.pushErrorMessage(odd, { omitStack: true });
      return made.errorMessages;
    },
  ],
  [
    'request: states',
    ({ lib }) =>
      Object.keys(lib.RequestState)
        .filter((key) => !/^\d+$/.test(key))
        .sort(),
  ],
  ['request: not a URL', ({ lib }) => attempt(() => new lib.Request({ url: 'nowhere' }))],
  ['request: headers of a wrong type', ({ lib }) => attempt(() => request(lib, { headers: 'x' }))],
  ['request: userData of a wrong type', ({ lib }) => attempt(() => request(lib, { userData: 'x' }))],

  ['session: id is kept', async ({ lib }) => (await session(lib, { id: 'mine' })).id],
  [
    'session: maxUsageCount',
    async ({ lib }) => {
      const made = await session(lib, { maxUsageCount: 2 });
      made.markGood();
      const once = made.isUsable();
      made.markGood();
      return [once, made.isMaxUsageCountReached(), made.isUsable()];
    },
  ],
  [
    'session: expires',
    async ({ lib }) => {
      const made = await session(lib, { expiresAt: new Date(Date.now() - 1000) });
      return [made.isExpired(), made.isUsable()];
    },
  ],
  [
    'session: maxErrorScore',
    async ({ lib }) => {
      const made = await session(lib, { maxErrorScore: 1 });
      made.markBad();
      return [made.isBlocked(), made.maxErrorScore];
    },
  ],
  [
    'session: errorScoreDecrement',
    async ({ lib }) => {
      const made = await session(lib, { errorScoreDecrement: 0.25 });
      made.markBad();
      made.markGood();
      return made.errorScore;
    },
  ],
  [
    'session: markGood does not go below zero',
    async ({ lib }) => {
      const made = await session(lib);
      made.markGood();
      made.markGood();
      return [made.errorScore, made.usageCount];
    },
  ],
  [
    'session: retireOnBlockedStatusCodes of 429',
    async ({ lib }) => (await session(lib)).retireOnBlockedStatusCodes(429),
  ],
  [
    'session: retireOnBlockedStatusCodes of 401',
    async ({ lib }) => (await session(lib)).retireOnBlockedStatusCodes(401),
  ],
  [
    'session: retireOnBlockedStatusCodes of 404',
    async ({ lib }) => (await session(lib)).retireOnBlockedStatusCodes(404),
  ],
  [
    'session: setCookiesFromResponse',
    async ({ lib }) => {
      const made = await session(lib);
      made.setCookiesFromResponse({
        headers: { 'set-cookie': ['a=1; Path=/', 'b=2; Path=/x'] },
        url: 'http://x.example/',
      });
      return [made.getCookieString('http://x.example/'), made.getCookieString('http://x.example/x')];
    },
  ],
  [
    'session: a secure cookie stays with https',
    async ({ lib }) => {
      const made = await session(lib);
      made.setCookie('s=1; Secure', 'https://x.example');
      return [made.getCookieString('https://x.example'), made.getCookieString('http://x.example')];
    },
  ],
  [
    'session: an expired cookie is gone',
    async ({ lib }) => {
      const made = await session(lib);
      made.setCookie('s=1', 'http://x.example');
      made.setCookie('s=1; Max-Age=0', 'http://x.example');
      return made.getCookieString('http://x.example');
    },
  ],
  [
    'session: cookies by path',
    async ({ lib }) => {
      const made = await session(lib);
      made.setCookies([{ name: 'p', value: '1', path: '/shop' }], 'http://x.example/shop');
      return [made.getCookieString('http://x.example/shop/a'), made.getCookieString('http://x.example/')];
    },
  ],
  [
    'session: a cookie is replaced',
    async ({ lib }) => {
      const made = await session(lib);
      for (const value of ['1', '2']) made.setCookies([{ name: 'c', value }], 'http://x.example');
      return made.getCookieString('http://x.example');
    },
  ],

  ['pool: isSessionPool options', async ({ lib }) => (await lib.SessionPool.open({ maxPoolSize: 3 })).maxPoolSize],
  [
    'pool: sessionOptions',
    async ({ lib }) => {
      const pool = await lib.SessionPool.open({ sessionOptions: { maxUsageCount: 7, maxErrorScore: 2 } });
      const made = await pool.getSession();
      return [made.maxUsageCount, made.maxErrorScore];
    },
  ],
  [
    'pool: never more than maxPoolSize',
    async ({ lib }) => {
      const pool = await lib.SessionPool.open({ maxPoolSize: 2 });
      const ids = new Set();
      for (let count = 0; count < 20; count++) ids.add((await pool.getSession()).id);
      return ids.size;
    },
  ],
  [
    'pool: a retired session is replaced',
    async ({ lib }) => {
      const pool = await lib.SessionPool.open({ maxPoolSize: 1 });
      const first = await pool.getSession();
      first.retire();
      return (await pool.getSession()).id === first.id;
    },
  ],
  [
    'pool: an added session twice',
    async ({ lib }) => {
      const pool = await lib.SessionPool.open();
      await pool.addSession({ id: 'one' });
      return pool.addSession({ id: 'one' }).then(
        () => 'accepted',
        () => 'refused',
      );
    },
  ],

  [
    'proxy: newUrlFunction that is async',
    async ({ lib }) => new lib.ProxyConfiguration({ newUrlFunction: async () => 'http://p.example:1' }).newUrl('s'),
  ],
  [
    'proxy: newUrlFunction gets the request',
    async ({ lib }) => {
      const made = new lib.ProxyConfiguration({
        newUrlFunction: (_, options) => `http://p.example:1/${options?.request?.label ?? ''}`,
      });
      return made.newUrl('s', { request: request(lib, { label: 'L' }) });
    },
  ],
  [
    'proxy: null means no proxy',
    async ({ lib }) => new lib.ProxyConfiguration({ newUrlFunction: () => null }).newUrl('s'),
  ],
  [
    'proxy: many sessions over two proxies',
    async ({ lib }) => {
      const made = new lib.ProxyConfiguration({ proxyUrls: ['http://a.example:1', 'http://b.example:2'] });
      return Promise.all(['1', '2', '3', '1', '2'].map((id) => made.newUrl(id)));
    },
  ],
  [
    'proxy: tiers and newUrlFunction together',
    ({ lib }) =>
      attempt(
        () =>
          new lib.ProxyConfiguration({ tieredProxyUrls: [['http://a.example:1']], proxyUrls: ['http://b.example:1'] }),
      ),
  ],
  [
    'proxy: newProxyInfo of a number',
    async ({ lib }) => {
      const made = new lib.ProxyConfiguration({ proxyUrls: ['http://a.example:1'] });
      return (await made.newProxyInfo(5)).sessionId;
    },
  ],
  [
    'proxy: https and its port',
    async ({ lib }) => {
      const made = new lib.ProxyConfiguration({ proxyUrls: ['https://u:p%40w@a.example:8443'] });
      const { hostname, port, username, password } = await made.newProxyInfo('s');
      return { hostname, port, username, password };
    },
  ],

  robots('a disallowed folder', ['User-agent: *', 'Disallow: /a/'], ['/a', '/a/', '/a/b', '/b']),
  robots('allow inside disallow', ['User-agent: *', 'Disallow: /a', 'Allow: /a/b'], ['/a', '/a/b', '/a/c']),
  robots('a star', ['User-agent: *', 'Disallow: /*.pdf'], ['/x.pdf', '/x.html', '/x.pdf?y']),
  robots('an end sign', ['User-agent: *', 'Disallow: /*.pdf$'], ['/x.pdf', '/x.pdf?y']),
  robots('an empty disallow', ['User-agent: *', 'Disallow:'], ['/', '/a']),
  robots('everything', ['User-agent: *', 'Disallow: /'], ['/', '/a']),
  robots('comments', ['# one', 'User-agent: * # two', 'Disallow: /a # three'], ['/a', '/b']),
  robots('other agents do not matter', ['User-agent: other', 'Disallow: /'], ['/a']),
  [
    'robots: sitemaps of several lines',
    ({ lib }) =>
      lib.RobotsTxtFile.from(
        'http://x.example/robots.txt',
        'Sitemap: http://x.example/1.xml\nSitemap: http://x.example/2.xml',
      ).getSitemaps(),
  ],

  sitemap('entities', entry('http://x.example/?a=1&amp;b=2')),
  sitemap('CDATA', entry('<![CDATA[http://x.example/?a=1&b=2]]>')),
  sitemap('white space', entry('\n  http://x.example/a\n ')),
  sitemap('no locations', '<urlset></urlset>'),
  sitemap(
    'other namespaces',
    `<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>http://x.example/</loc><image:image><image:loc>http://x.example/i.png</image:loc></image:image></url></urlset>`,
  ),
  sitemap(
    'many',
    `<urlset>${Array.from({ length: 50 }, (_, i) => `<url><loc>http://x.example/${i}</loc></url>`).join('')}</urlset>`,
  ),

  social('FACEBOOK_REGEX', [
    'https://www.facebook.com/someone',
    'fb.com/someone',
    'https://www.facebook.com/profile.php?id=123',
    'https://www.facebook.com/groups/x',
    'http://x.example/a',
  ]),
  social('INSTAGRAM_REGEX', [
    'https://www.instagram.com/old_prague',
    'instagram.com/newyorkarea/',
    'instagr.am/x',
    'https://www.instagram.com/_n/',
    'http://x.example',
  ]),
  social('LINKEDIN_REGEX', [
    'https://www.linkedin.com/in/alan-turing',
    'en.linkedin.com/in/alan-turing',
    'https://www.linkedin.com/company/x',
    'linkedin.com/in/',
    'http://x.example',
  ]),
  social('YOUTUBE_REGEX', [
    'https://www.youtube.com/watch?v=kM7YfhfkiEE',
    'https://youtu.be/kM7YfhfkiEE',
    'https://www.youtube.com/c/TrapNation',
    'youtube.com/channel/UCklie6BM0fhFvzWYqQVoCTA',
    'https://www.youtube.com/',
  ]),
  social('TIKTOK_REGEX', [
    'https://www.tiktok.com/trending?shareId=123456789',
    'https://www.tiktok.com/@user/video/123456789',
    'tiktok.com/@user',
    'http://x.example',
  ]),
  social('PINTEREST_REGEX', [
    'https://pinterest.com/pin/123456789',
    'https://www.pinterest.cz/someone',
    'https://uk.pinterest.com/someone/board',
    'http://x.example',
  ]),
  social('DISCORD_REGEX', [
    'https://discord.gg/discord-developers',
    'https://discord.com/invite/jyEM2PRvMU',
    'https://discordapp.com/channels/231496023303957476',
    'http://x.example',
  ]),
  social('EMAIL_REGEX', ['a@b.example', 'a.b+c@d.e.example', 'not', '@b.example', 'a@b']),
  ['social: emails twice', ({ lib }) => lib.social.emailsFromText('a@b.example a@b.example A@b.example')],
  [
    'social: phones of odd forms',
    ({ lib }) => lib.social.phonesFromText('(123) 456-7890, 123.456.7890, +1 (123) 456-7890, 2023-01-02, 10.0.0.1'),
  ],
  ['social: emails from nothing', ({ lib }) => [lib.social.emailsFromText(''), lib.social.emailsFromUrls([])]],
  ['social: handles of a page without any', ({ lib }) => lib.social.parseHandlesFromHtml('<p>nothing</p>')],

  text('headings', '<h1>A</h1><h2>B</h2>'),
  text('inline elements', '<p>a <b>b</b> <i>c</i>d</p>'),
  text('a table', '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>'),
  text('nested lists', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'),
  text('scripts and styles', '<style>x</style><script>y</script><noscript>z</noscript><p>a</p>'),
  text('comments', '<p>a<!-- b -->c</p>'),
  text('an empty string', ''),
  text('a whole page', '<html><head><title>T</title></head><body>B</body></html>'),
  text('entities', '<p>&euro; &nbsp; &quot;</p>'),
  text('breaks in a row', 'a<br><br><br>b'),
  text('a selection', '<select><option>a<option>b</select>'),
  text('an image with text', '<img alt="x"><p>a</p>'),

  [
    'utils: snakeCaseToCamelCase of odd values',
    ({ lib }) => ['A_B', 'abc', 'a__b', '_a'].map((one) => lib.snakeCaseToCamelCase(one)),
  ],
  ['utils: chunk of nothing', ({ lib }) => [lib.chunk([], 3), lib.chunk([1], 3)]],
  ['utils: weightedAvg of one', ({ lib }) => lib.weightedAvg([5], [2])],
  [
    'utils: extractUrls of lines',
    ({ lib }) => lib.extractUrls({ string: 'http://a.example/1\nhttp://a.example/2\nhttp://a.example/1' }),
  ],
  [
    'utils: extractUrls of JSON',
    ({ lib }) =>
      lib.extractUrls({ string: JSON.stringify({ url: 'https://a.example/x?y=z', list: ['http://b.example'] }) }),
  ],
  [
    'utils: extractUrls of CSV',
    ({ lib }) => lib.extractUrls({ string: '1,https://a.example/x,name\n2,https://b.example/y,"n, m"' }),
  ],
  [
    'utils: extractUrls with an own expression',
    ({ lib }) => lib.extractUrls({ string: 'x:1 x:2', urlRegExp: /x:\d/g }),
  ],
  ['utils: extractUrls of nothing', ({ lib }) => lib.extractUrls({ string: 'nothing here' })],
  [
    'utils: tryAbsoluteURL of kinds',
    ({ lib }) =>
      ['//y.example/a', '?q=1', '#f', 'http://z.example', 'mailto:a@b.example', ''].map((href) =>
        lib.tryAbsoluteURL(href, 'http://x.example/b/c?d'),
      ),
  ],
  ['open graph: an empty page', ({ lib }) => lib.parseOpenGraph('<html></html>')],
  [
    'open graph: additional properties',
    ({ lib }) =>
      lib.parseOpenGraph('<meta property="og:custom" content="yes">', [
        { name: 'og:custom', outputName: 'custom', children: [] },
      ]),
  ],
  [
    'open graph: several images',
    ({ lib }) =>
      lib.parseOpenGraph(
        '<meta property="og:image" content="http://x.example/1.png"><meta property="og:image" content="http://x.example/2.png">',
      ),
  ],

  ['cookies: mergeCookies of one', ({ lib }) => lib.mergeCookies('http://x.example', ['a=1'])],
  ['cookies: mergeCookies of nothing', ({ lib }) => lib.mergeCookies('http://x.example', [undefined, ''])],
  [
    'cookies: mergeCookies replaces',
    ({ lib }) => lib.mergeCookies('http://x.example', ['a=1; b=1', 'a=2', 'c=3; b=4']),
  ],
  ['cookies: getDefaultCookieExpirationDate', ({ lib }) => lib.getDefaultCookieExpirationDate(60) instanceof Date],
  [
    'cookies: toughCookieToBrowserPoolCookie',
    ({ lib }) => {
      const { name, value, path, secure, httpOnly } = lib.toughCookieToBrowserPoolCookie(
        lib.cookieStringToToughCookie('a=1; Path=/x; Secure; HttpOnly'),
      );
      return { name, value, path, secure, httpOnly };
    },
  ],
  [
    'cookies: browserPoolCookieToToughCookie',
    ({ lib }) => {
      const made = lib.browserPoolCookieToToughCookie({ name: 'a', value: '1', domain: 'x.example', path: '/' }, 60);
      return [made.key, made.value, made.path];
    },
  ],

  [
    'log: levels by name',
    ({ lib }) =>
      Object.keys(lib.LogLevel)
        .filter((key) => !/^\d+$/.test(key))
        .sort(),
  ],
  [
    'log: level of a child',
    ({ lib }) => {
      const parent = new lib.Log({ level: lib.LogLevel.ERROR });
      const child = parent.child({ level: lib.LogLevel.DEBUG });
      return [parent.getLevel(), child.getLevel(), parent.child({}).getLevel()];
    },
  ],
  [
    'log: setLevel',
    ({ lib }) => {
      const made = new lib.Log();
      made.setLevel(lib.LogLevel.WARNING);
      return made.getLevel();
    },
  ],
  [
    'log: exception',
    ({ lib }) => {
      const lines = [];
      class Mine extends lib.Logger {
        _log(level, message) {
          lines.push([level, message]);
        }
      }
      new lib.Log({ level: lib.LogLevel.DEBUG, logger: new Mine() }).exception(new Error('x'), 'it broke');
      return lines.map(([level, message]) => [level, /it broke/.test(message)]);
    },
  ],
  [
    'log: deprecated once',
    ({ lib }) => {
      let lines = 0;
      class Mine extends lib.Logger {
        _log() {
          lines++;
        }
      }
      const made = new lib.Log({ level: lib.LogLevel.DEBUG, logger: new Mine() });
      made.deprecated('old');
      made.deprecated('old');
      return lines;
    },
  ],
  [
    'log: warningOnce',
    ({ lib }) => {
      let lines = 0;
      class Mine extends lib.Logger {
        _log() {
          lines++;
        }
      }
      const made = new lib.Log({ level: lib.LogLevel.DEBUG, logger: new Mine() });
      for (const one of ['a', 'a', 'b']) made.warningOnce(one);
      return lines;
    },
  ],
  [
    'log: internal by level',
    ({ lib }) => {
      const levels = [];
      class Mine extends lib.Logger {
        _log(level) {
          levels.push(level);
        }
      }
      const made = new lib.Log({ level: lib.LogLevel.DEBUG, logger: new Mine() });
      made.error('a');
      made.warning('a');
      made.softFail('a');
      made.info('a');
      made.debug('a');
      made.perf('a');
      return levels;
    },
  ],

  [
    'errors: names of classes',
    ({ lib }) =>
      ['CriticalError', 'NonRetryableError', 'MissingRouteError', 'RetryRequestError', 'SessionError'].map((name) => [
        name,
        new lib[name]('m').message,
      ]),
  ],
  ['errors: SessionError says why', ({ lib }) => /blocked/.test(new lib.SessionError('blocked').message)],
  [
    'config: defaults',
    ({ lib }) => {
      const made = new lib.Configuration();
      return [
        'defaultDatasetId',
        'defaultKeyValueStoreId',
        'defaultRequestQueueId',
        'inputKey',
        'persistStateIntervalMillis',
        'maxUsedCpuRatio',
        'headless',
        'persistStorage',
      ].map((key) => made.get(key));
    },
  ],
  [
    'config: variables are numbers and booleans',
    ({ lib }) => {
      process.env.CRAWLEE_PERSIST_STATE_INTERVAL_MILLIS = '1234';
      process.env.CRAWLEE_HEADLESS = '0';
      process.env.CRAWLEE_PERSIST_STORAGE = 'false';
      const made = new lib.Configuration();
      return [made.get('persistStateIntervalMillis'), made.get('headless'), made.get('persistStorage')];
    },
  ],
  [
    'config: a variable wins over an option',
    ({ lib }) => {
      process.env.CRAWLEE_INPUT_KEY = 'FROM_ENV';
      return new lib.Configuration({ inputKey: 'FROM_OPTION' }).get('inputKey');
    },
  ],
  ['config: one global', ({ lib }) => lib.Configuration.getGlobalConfig() === lib.Configuration.getGlobalConfig()],
  [
    'events: off without a listener removes all',
    ({ lib }) => {
      const made = new lib.LocalEventManager();
      let count = 0;
      made.on('x', () => void count++);
      made.on('x', () => void count++);
      made.off('x');
      made.emit('x');
      return count;
    },
  ],
  [
    'events: arguments',
    ({ lib }) => {
      const made = new lib.LocalEventManager();
      const got = [];
      made.on('x', (...args) => void got.push(args));
      made.emit('x', { a: 1 }, 2);
      return got;
    },
  ],
  [
    'statistics: retries of jobs',
    ({ lib }) => {
      const made = new lib.Statistics();
      made.startJob('a');
      made.finishJob('a', 2);
      return [made.requestRetryHistogram, made.state.requestsFinished];
    },
  ],
  [
    'statistics: reset',
    ({ lib }) => {
      const made = new lib.Statistics();
      made.startJob('a');
      made.finishJob('a', 0);
      made.reset();
      return made.state.requestsFinished;
    },
  ],
  [
    'statistics: registerStatusCode',
    ({ lib }) => {
      const made = new lib.Statistics();
      for (const code of [200, 200, 404]) made.registerStatusCode(code);
      return made.state.requestsWithStatusCode;
    },
  ],
]);
