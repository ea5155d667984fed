// The handlers of a crawl on pods (crawl.yaml beside this file); a script could give the same router to a CheerioCrawler.
import { createCheerioRouter } from 'orcrawl';

export const router = createCheerioRouter();

router.addDefaultHandler(async ({ request, content, pushData, enqueueLinks }) => {
  await pushData({ url: request.url, title: content.title, links: content.links.length });
  await enqueueLinks({ strategy: 'all' });
});
