// What to do with each page. The file runs in every fetcher; a script could give the same router to a CheerioCrawler.
import { createCheerioRouter } from 'orcrawl';

export interface Page {
  url: string;
  title: string | undefined;
  words: number;
}

export const router = createCheerioRouter();

router.addDefaultHandler(async ({ request, content, pushData, enqueueLinks }) => {
  const page: Page = { url: request.url, title: content.title, words: content.text.split(/\s+/).length };
  await pushData(page);
  await enqueueLinks({ strategy: 'all' });
});
