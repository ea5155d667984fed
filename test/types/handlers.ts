// What must and what must not compile: checked by `npm run typecheck`, where an unused @ts-expect-error is an error.
import {
  BasicCrawler,
  CheerioCrawler,
  type CheerioCrawlingContext,
  createCheerioRouter,
  createHttpRouter,
  HttpCrawler,
  type HttpCrawlingContext,
} from '../../src/index.js';

// A handler written for one type fits another when it uses only what both have.
const shared = async ({ request, pushData, enqueueLinks, log }: HttpCrawlingContext): Promise<void> => {
  log.info(request.url);
  await pushData({ url: request.loadedUrl });
  await enqueueLinks({ globs: ['https://example.com/**'], label: 'DETAIL' });
};
new HttpCrawler({ requestHandler: shared });
new CheerioCrawler({ requestHandler: shared });

const needsDocument = async ({ $ }: CheerioCrawlingContext): Promise<void> => void $('h1').text();
new CheerioCrawler({ requestHandler: needsDocument });
// @ts-expect-error an HttpCrawler has no document to give
new HttpCrawler({ requestHandler: needsDocument });

// @ts-expect-error a BasicCrawler fetches nothing, so there is no body
new BasicCrawler({ requestHandler: ({ body }) => void body });

// @ts-expect-error a mistyped option
new CheerioCrawler({ maxConcurency: 5 });
// @ts-expect-error a wrong type
new CheerioCrawler({ maxConcurrency: 'five' });

// User data is typed once, by label, and checked in the label's handler.
interface Routes {
  PRODUCT: { sku: string };
  LIST: { page: number };
}
const typed = createCheerioRouter<CheerioCrawlingContext, Routes>();
typed.addHandler('PRODUCT', async ({ request, $ }) => {
  request.userData.sku.toUpperCase();
  $('h1').text();
  // @ts-expect-error PRODUCT has no page
  void request.userData.page;
});
// @ts-expect-error no such label
typed.addHandler('PRODCUT', async () => undefined);
new CheerioCrawler({ requestHandler: typed });

const untyped = createHttpRouter();
untyped.addHandler('anything', async ({ request }) => void request.userData.whatever);
untyped.addDefaultHandler(async ({ content }) => void content.title.length);
new HttpCrawler({ requestHandler: untyped });

const crawler = new CheerioCrawler();
crawler.router.addDefaultHandler(async ({ $ }) => void $('title').text());
