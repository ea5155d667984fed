// The table of measured figures in README.md, written from bench/RESULTS.md between its two marks.
// Promise: `readmeWith` changes nothing else; a test compares what is committed with it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { browserCosts, crawlCosts, extractionCosts, readResults } from './results.mjs';

const BETWEEN = /(<!-- figures -->\n)[\s\S]*?(<!-- \/figures -->)/;

export function updateReadme(root) {
  const file = path.join(root, 'README.md');
  const before = readFileSync(file, 'utf8');
  const after = readmeWith(before, root);
  if (after !== before) writeFileSync(file, after);
}

export function readmeWith(readme, root) {
  return readme.replace(BETWEEN, (_, start, end) => `${start}${table(readResults(root))}${end}`);
}

function table(results) {
  const real = crawlCosts(results, 'real pages');
  const [browser, browserCrawlee, browserTimes] = browserCosts(results);
  const [times, readability, ours] = extractionCosts(results);
  const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
  const row = (what, own, peer, name, ratio, section) =>
    `| ${what} | **${ms(own)}** | ${ms(peer)}, ${name} | ${ratio} × | \`npm run measure -- ${section}\` |`;
  const { content, cheerio, crawlee } = real;
  return `| CPU time per page | orcrawl | beside | | repeat it |
|---|---|---|---|---|
${row('a crawl of real pages: text and links', content.cpuMs, crawlee.cpuMs, 'Crawlee 3.18', content.timesCrawlee, 'crawl')}
${row('the same with a DOM (`$`)', cheerio.cpuMs, crawlee.cpuMs, 'Crawlee 3.18', cheerio.timesCrawlee, 'crawl')}
${row('a page in a browser, its processes included', browser, browserCrawlee, 'Crawlee 3.18', browserTimes, 'browser-speed')}
${row('main content and markdown', ours, readability, 'Readability.js on jsdom', times, 'extraction')}

The first crawl takes ${content.mb} MB of memory, with its queue on disk; Crawlee's takes ${crawlee.mb.toLocaleString('en')} MB, with its queue in memory.
`;
}
