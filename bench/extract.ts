// Measures main content and markdown of dist/ on real pages, beside Readability.js on jsdom in the same run.
// Run: node --import jiti/register bench/extract.ts [--smoke]   (sources run by jiti are several times slower)
import { OPTIONS, besideReadability, passMs, readPages } from './extract-speed.js';

const { extractContent, toMarkdown } = (await import(
  new URL('../dist/index.js', import.meta.url).href
)) as typeof import('../src/index.js');
const isSmoke = process.argv.includes('--smoke');
const { source, pages } = readPages(isSmoke ? 30 : undefined);
const bytes = pages.reduce((sum, page) => sum + page.length, 0);
console.log(`${pages.length} pages of ${source}, ${(bytes / 1e6).toFixed(1)} MB; Node ${process.version}; CPU time`);
const stages: [string, (page: Buffer) => unknown][] = [
  ['main content', (page) => extractContent(page, OPTIONS).text],
  ['main content + markdown', (page) => extractContent(page, OPTIONS).markdown],
  ['every field', (page) => ({ ...extractContent(page, OPTIONS) })],
  ['whole page as markdown', (page) => toMarkdown(page, OPTIONS).raw],
];
for (const [name, run] of stages) {
  for (const page of pages) run(page);
  const ms = passMs(pages, run);
  console.log(
    `${name.padEnd(26)} ${(bytes / 1e3 / ms).toFixed(0).padStart(5)} MB/s ${(ms / pages.length).toFixed(2).padStart(8)} ms/page`,
  );
}
if (!isSmoke) {
  const beside = besideReadability(pages, (page) => extractContent(page, OPTIONS).markdown);
  if (beside === null) console.log('Readability.js could not be installed: no comparison');
  else {
    const { theirsMs, oursMs } = beside;
    console.log(
      `on ${beside.pages} of them: Readability.js on jsdom ${theirsMs.toFixed(1)} ms/page, main content + markdown ${oursMs.toFixed(2)}: ` +
        `${(theirsMs / oursMs).toFixed(0)} times (goal: 40)`,
    );
  }
}
