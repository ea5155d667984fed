// A mirror of a documentation site that stays current: a markdown file per page, written, replaced or deleted as the page is.
// Run: node --import jiti/register examples/docs-mirror.ts https://docs.example.com/ ./mirror
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Configuration, HttpCrawler } from 'orcrawl';

const [start = '', folder = 'mirror'] = process.argv.slice(2);

/** `https://docs.example.com/a/b?page=2` is `mirror/docs.example.com/a/b-page-2.md`. */
function fileOf(url: string): string {
  const { hostname, pathname, search } = new URL(url);
  const steps = `${hostname}${pathname.replace(/\/$/, '/index')}${search}`.split('/').filter(Boolean);
  return path.join(folder, ...steps.map((step) => step.replace(/[^\w.-]+/g, '-').replace(/^\.+/, '_'))) + '.md';
}

const crawler = new HttpCrawler(
  {
    // Every page that is known is asked for again, cheaply; sitemaps tell which can be left alone.
    remember: { name: 'mirror', revisit: true, hints: true },
    requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
    async onChange({ request, change, content }) {
      const file = fileOf(request.loadedUrl ?? request.url);
      console.log(change.kind, request.url);
      if (change.kind === 'removed') return rm(file, { force: true });
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content.main().markdown);
    },
  },
  // Each run is a new crawl; the memory of pages stays.
  new Configuration({ purgeOnStart: true }),
);

await crawler.run([start]);
