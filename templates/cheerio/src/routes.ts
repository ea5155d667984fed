// What to do with each kind of page. Whatever a handler pushes and enqueues is kept only if it succeeds.
import { createCheerioRouter } from 'orcrawl';

export interface Page {
  url: string;
  title: string;
  published: string | undefined;
}

export const router = createCheerioRouter();

// The start page: its links lead to the pages we want.
router.addDefaultHandler(async ({ enqueueLinks, log, request }) => {
  log.info(`start: ${request.url}`);
  await enqueueLinks({ label: 'PAGE' });
});

// Every other page: one item, and the links it has.
router.addHandler('PAGE', async ({ $, request, enqueueLinks, pushData }) => {
  const page: Page = {
    url: request.loadedUrl,
    title: $('title').text(),
    published: $('time').attr('datetime'),
  };
  await pushData(page);
  await enqueueLinks({ label: 'PAGE' });
});
