// Walks through a list page by page in one live page, without reloading: load, click "next", wait for the new content.
// Run: npx orcrawl simweb --port 8080, and in another terminal node --import jiti/register examples/browser-click-through.ts
import { writeFile } from 'node:fs/promises';
import { WebCrawler } from 'orcrawl';

const url = process.argv[2] ?? 'http://127.0.0.1:8080/_/list';
const crawler = await WebCrawler.open({ browser: { headless: true, viewport: { width: 800, height: 360 } } });
try {
  const sessionId = crawler.createSession();
  const items: string[] = [];
  for (let page = 1; page <= 3; page++) {
    const result = await crawler.run(url, {
      sessionId,
      // After the first page nothing is loaded: the script runs in the page as it is.
      ...(page > 1 && { jsOnly: true, jsCode: "document.querySelector('#next').click()" }),
      waitFor: `js:() => document.querySelector('#list').dataset.page === '${page}' && document.querySelector('.item')`,
      extract: { engine: 'css', items: '.item', fields: { name: { type: 'text' } } },
      ...(page === 3 && { screenshot: true }),
    });
    if (!result.success) throw new Error(`${result.errorCode}: ${result.errorMessage}`);
    items.push(...(result.extracted as { name: string }[]).map(({ name }) => name));
    if (result.screenshot) await writeFile('click-through.png', result.screenshot);
  }
  console.log(JSON.stringify(items));
} finally {
  await crawler.close();
}
