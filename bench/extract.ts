// Measures main content and markdown on real pages, stage by stage, beside Readability.js on jsdom in the same run.
// Run: node --import jiti/register bench/extract.ts [--without-readability]
import { extractContent, toMarkdown, viewPage } from '../src/crawl/extraction.js';
import { OPTIONS, besideReadability, passMs, readPages } from './extract-speed.js';

const { source, pages } = readPages();
const bytes = pages.reduce((sum, page) => sum + page.length, 0);
console.log(`${pages.length} pages of ${source}, ${(bytes / 1e6).toFixed(1)} MB; Node ${process.version}; CPU time`);
const stages: [string, (page: Buffer) => unknown][] = [
  ['tree', (page) => viewPage(page, OPTIONS)],
  ['tree + blocks', (page) => viewPage(page, OPTIONS).segments],
  ['choice of main content', (page) => viewPage(page, OPTIONS).main],
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
if (!process.argv.includes('--without-readability')) {
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
