// After the introduction and the shorter examples: one crawler each, pages in, items out.
import {
  BasicCrawler,
  CheerioCrawler,
  type CheerioCrawlingContext,
  type CheerioCrawlerOptions,
  createCheerioRouter,
  Dataset,
  downloadListOfUrls,
  EnqueueStrategy,
  FileDownload,
  HttpCrawler,
  KeyValueStore,
  log,
  RobotsTxtFile,
  Sitemap,
} from 'crawlee';
import { createHash } from 'node:crypto';
import { pathOf, type Samples } from '../site.js';

interface Page {
  url: string;
  title: string;
}

export const scenarios: Samples = {
  'sample: the first crawler': async ({ at }) => {
    const crawler = new CheerioCrawler({
      maxRequestsPerCrawl: 20,
      async requestHandler({ request, $, enqueueLinks, log }) {
        const title = $('title').text();
        log.info(`The title of ${request.loadedUrl} is ${title}`);
        await Dataset.pushData<Page>({ title, url: request.loadedUrl });
        await enqueueLinks();
      },
    });
    await crawler.run([at('/')]);
    const { items } = await Dataset.getData<Page>();
    return items.map(({ url, title }) => [pathOf(url), title]).sort();
  },
  'sample: a handler of its own, with options built before': async ({ at }) => {
    const headings: string[] = [];
    async function requestHandler({ $, body, contentType, request }: CheerioCrawlingContext): Promise<void> {
      const text = typeof body === 'string' ? body : body.toString();
      $('h1').each((_, element) => {
        headings.push(`${request.label ?? 'none'} ${$(element).text()} ${contentType.type} ${text.includes('</h1>')}`);
      });
    }
    const options: CheerioCrawlerOptions = { requestHandler, maxRequestRetries: 1, requestHandlerTimeoutSecs: 30 };
    await new CheerioCrawler(options).run([at('/a'), { url: at('/b'), label: 'SECOND' }]);
    return headings.sort();
  },
  'sample: a list of URLs': async ({ at }) => {
    const titles: Record<string, string> = {};
    const crawler = new CheerioCrawler({
      minConcurrency: 2,
      maxConcurrency: 5,
      requestHandler: ({ $, request }) => {
        titles[pathOf(request.url)] = $('title').text();
      },
    });
    await crawler.addRequests([at('/a'), at('/b')]);
    const stats = await crawler.run([at('/dir/c.html')]);
    return [titles, stats.requestsFinished, stats.requestsTotal];
  },
  'sample: all links, with a limit': async ({ at }) => {
    let pages = 0;
    const crawler = new CheerioCrawler({
      maxConcurrency: 1,
      maxRequestsPerCrawl: 5,
      async requestHandler({ enqueueLinks }) {
        pages += 1;
        await enqueueLinks({ strategy: 'all', selector: 'a[href^="/item/"]' });
      },
    });
    await crawler.run([at('/many')]);
    return pages;
  },
  'sample: some links, by patterns': async ({ at }) => {
    const seen: string[] = [];
    const crawler = new CheerioCrawler({
      async requestHandler({ request, enqueueLinks }) {
        seen.push(pathOf(request.loadedUrl));
        const { processedRequests } = await enqueueLinks({
          globs: [{ glob: '**/item/1*', label: 'ITEM' }],
          exclude: [/\/item\/1[2-9]/],
          transformRequestFunction: (next) => (next.url.endsWith('/10') ? false : next),
        });
        seen.push(`${processedRequests.length}`);
      },
    });
    await crawler.run([at('/many')]);
    return seen.sort();
  },
  'sample: relative links': async ({ at }) => {
    const seen: string[] = [];
    const crawler = new CheerioCrawler({
      maxRequestsPerCrawl: 10,
      async requestHandler({ request, enqueueLinks }) {
        seen.push(pathOf(request.url));
        if (request.label) return;
        await enqueueLinks({ strategy: EnqueueStrategy.SameHostname, selector: 'a[href*="relative"]', label: 'NEXT' });
      },
      failedRequestHandler({ request }) {
        seen.push(`failed ${request.url.slice(-2)}`);
      },
    });
    await crawler.run([at('/links')]);
    return seen.sort();
  },
  'sample: the URLs of a sitemap': async ({ at }) => {
    const { urls } = await Sitemap.load(at('/sitemap-index.xml'));
    const own = urls.filter((url) => url.startsWith(at('/')));
    const seen: string[] = [];
    const crawler = new HttpCrawler({
      requestHandler: async ({ request }) => {
        seen.push(pathOf(request.url));
      },
    });
    await crawler.addRequests(own);
    await crawler.run();
    const robots = await RobotsTxtFile.find(at('/a'));
    const list = await downloadListOfUrls({ url: at('/list.txt') });
    return [seen.sort(), urls.length, robots.isAllowed(at('/private')), robots.getSitemaps().length, list.length];
  },
  'sample: pages that are not loaded by the crawler': async ({ at }) => {
    const images = await KeyValueStore.open('images');
    const crawler = new CheerioCrawler({
      async requestHandler({ request, sendRequest, addRequests }) {
        if (!request.skipNavigation) {
          await addRequests([{ url: at('/image.png'), skipNavigation: true, label: 'IMAGE' }]);
          return;
        }
        const { rawBody, headers } = await sendRequest({ responseType: 'buffer' });
        await images.setValue('logo', rawBody, { contentType: headers['content-type'] ?? 'image/jpeg' });
      },
    });
    await crawler.run([at('/a')]);
    const image = await images.getValue<Buffer>('logo');
    return image?.toString('hex');
  },
  'sample: files into a store': async ({ at }) => {
    const crawler = new FileDownload({
      async requestHandler({ body, request, contentType, getKeyValueStore }) {
        const store = await getKeyValueStore();
        const key = pathOf(request.url).replace(/\W/g, '_');
        await store.setValue(key, body as Buffer, { contentType: contentType.type });
      },
    });
    await crawler.addRequests([at('/file.bin'), at('/image.png')]);
    await crawler.run();
    const bytes = await KeyValueStore.getValue<Buffer>('_file_bin');
    return [bytes?.length, (await KeyValueStore.getValue<Buffer>('_image_png'))?.length];
  },
  'sample: a file as a stream': async ({ at }) => {
    const found: unknown[] = [];
    const crawler = new FileDownload({
      async streamHandler({ stream, request, log: own }) {
        const hash = createHash('sha256');
        let bytes = 0;
        for await (const chunk of stream) {
          hash.update(chunk as Buffer);
          bytes += (chunk as Buffer).length;
        }
        own.debug(`read ${request.url}`);
        found.push([bytes, hash.digest('hex').slice(0, 8)]);
      },
    });
    await crawler.run([at('/drip')]);
    return found;
  },
  'sample: JSON and text by HTTP': async ({ at }) => {
    const found: unknown[] = [];
    const crawler = new HttpCrawler({
      additionalMimeTypes: ['text/plain'],
      requestHandler: async ({ body, json, contentType, response }) => {
        found.push([contentType.type, json ? (json as { name: string }).name : body.toString(), response.statusCode]);
      },
    });
    await crawler.run([at('/json'), at('/text')]);
    return found.map((one) => JSON.stringify(one)).sort();
  },
  'sample: a crawler that asks by itself': async ({ at }) => {
    const crawler = new BasicCrawler({
      async requestHandler({ pushData, request, sendRequest }) {
        const { body, statusCode } = await sendRequest();
        await pushData({ path: pathOf(request.url), html: body.includes('<h1>'), statusCode });
      },
    });
    await crawler.run([at('/a'), at('/b')]);
    const { items, count } = await crawler.getData();
    return [count, items.map((item) => JSON.stringify(item)).sort()];
  },
  'sample: a form is posted': async ({ at }) => {
    let got: unknown;
    const crawler = new HttpCrawler({
      requestHandler: async ({ json }) => {
        got = json;
      },
    });
    await crawler.run([
      {
        url: at('/echo'),
        method: 'POST',
        payload: new URLSearchParams({ q: 'orc', page: '2' }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ]);
    const { method, body, type } = got as Record<string, string>;
    return [method, body, type];
  },
  'sample: a form is sent by a handler': async ({ at }) => {
    interface Echo {
      method: string;
      body: string;
    }
    const answers: Echo[] = [];
    const crawler = new CheerioCrawler({
      async requestHandler({ $, sendRequest, request }) {
        const fields: Record<string, string> = {};
        for (const input of $('form input').toArray()) fields[$(input).attr('name') ?? ''] = `${$(input).val()} whale`;
        const { body } = await sendRequest<Echo>({
          url: new URL($('form').attr('action') ?? '', request.loadedUrl).href,
          method: 'POST',
          form: fields,
          responseType: 'json',
        });
        answers.push({ method: body.method, body: body.body });
      },
    });
    await crawler.run([at('/form')]);
    return answers;
  },
  'sample: three routes, items and a summary': async ({ at }) => {
    const router = createCheerioRouter();
    router.addDefaultHandler(async ({ enqueueLinks }) => {
      await enqueueLinks({ globs: ['**/a', '**/b'], label: 'LIST' });
    });
    router.addHandler('LIST', async ({ enqueueLinks, log: own }) => {
      own.debug('list');
      await enqueueLinks({ regexps: [/\/dir\//], label: 'DETAIL' });
    });
    router.addHandler('DETAIL', async ({ request, $, pushData }) => {
      await pushData({ path: pathOf(request.loadedUrl), title: $('title').text(), label: request.label });
    });
    const crawler = new CheerioCrawler({ requestHandler: router });
    const { requestsFinished, requestsFailed } = await crawler.run([at('/')]);
    log.debug('done');
    const { items, total } = await crawler.getData();
    return [requestsFinished, requestsFailed, items, total];
  },
};
