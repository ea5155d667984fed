// The pictures of docs/console.md and README.md: a crawl in the console, in light, in dark and on a phone.
// `node --import ./scripts/typescript.mjs scripts/docs/console-pictures.ts [FOLDER]`, after npm run build. With a folder: three
// widths in light and dark, of the crawl and of the other views. Look at them before you commit them.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, newTab } from '../../test/integration/console-fixtures.js';
import { pause, startFeed } from '../../test/support/console-load.js';

const [FOLDER] = process.argv.slice(2);
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
type Picture = readonly [name: string, width: number, height: number, scheme: 'light' | 'dark', view?: string];
const OF_DOCS: readonly Picture[] = [
  ['light', 1_280, 900, 'light'],
  ['dark', 1_280, 900, 'dark'],
  ['phone', 390, 844, 'light'],
];
const VIEWS = { crawl: undefined, domains: '#/jobs/crawl?show=domains', pods: '#/pods', jobs: '#/jobs' };
const TO_LOOK_AT: readonly Picture[] = (['light', 'dark'] as const).flatMap((scheme) =>
  ([390, 1_024, 1_920] as const).flatMap((width) =>
    Object.entries(VIEWS).map(
      ([name, view]) => [`${name}-${width}-${scheme}`, width, width === 390 ? 844 : 900, scheme, view] as const,
    ),
  ),
);

const feed = await startFeed(400);
await feed.tell({ kind: 'rate', perSec: 120 });
await pause(25_000);
const { address } = await feed.tell({ kind: 'look' });
const browser = await launch();
for (const [name, width, height, scheme, view] of FOLDER === undefined ? OF_DOCS : TO_LOOK_AT) {
  const { page, context } = await newTab(browser, { width, height, scheme });
  await page.goto(address);
  await page.locator('.list-row').nth(3).waitFor();
  if (view !== undefined) await page.evaluate(`void (location.hash = '${view}')`);
  await pause(1_500);
  const file = path.join(FOLDER ?? IMAGES, `console-${name}.png`);
  await page.screenshot({ path: file });
  console.log(file);
  await context.close();
}
await browser.close();
await feed.tell({ kind: 'end' });
