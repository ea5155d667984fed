// The page of measured figures: charts drawn from bench/RESULTS.md and bench/EXTRACTION.md when the site is built.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { barChart } from './charts.mjs';
import { browserCosts, crawlCosts, extractionCosts, readResults, rampRows } from './results.mjs';

export function figuresPage(root) {
  const results = readResults(root);
  const source = ({ command, date, machine }) => `${date}, ${machine}. Repeat it: ${command}`;
  const crawl = results.section('crawl');
  const [ratio, readability, own] = extractionCosts(results);
  const [browser, browserCrawlee] = browserCosts(results);
  const [killed] = results.numbers('kill', 'one owner: pages, kills', /^\d+, (\d+)/);
  const [lost] = results.numbers('kill', 'one owner: pages without an item', /^(\d+)/);
  const [twice] = results.numbers('kill', 'one owner: duplicate items', /^(\d+)/);
  const [podsLost, podsTwice] = results.numbers('pods-kill', 'pages missing / stored twice', /^(\d+) \/ (\d+)/);
  const podsKills = results.section('pods-kill').rows.find(({ what }) => what.startsWith('kills')).measured;
  const [resumeSecs] = results.numbers('queue', 'resume with 1 M queued', /^([\d.]+) s/);
  const [millionMb] = results.numbers('many-million', 'highest RSS', /^(\d+) MB/);
  const [gapMs] = results.numbers('polite', 'smallest gap at the server', /^([\d.]+) ms/);
  const [commands] = results.numbers('redis-pages', 'commands sent by clients', /^([\d.]+)/);

  const markdown = `# Measured figures

Drawn from [bench/RESULTS.md](bench/RESULTS.md), where every figure stands with its command, date and machine. Machines are shared and noisy: compare the bars of one chart, not charts with each other. What is compared and how: [performance](docs/performance.md).

## A page of a crawl

Fetch, inflate, title and text into a dataset, links followed, each URL once; one core. The bare loop has no queue, no retries, no sessions and no limits: it is the floor.

${costChart('Real pages: CPU time per page', crawlCosts(results, 'real pages'), source(crawl))}
${costChart('Synthetic web: CPU time per page', crawlCosts(results, 'synthetic web'), source(crawl))}
## Memory of the same crawl

${memoryChart(crawlCosts(results, 'real pages'), source(crawl))}
## A page in a browser

${barChart({
  title: 'PlaywrightCrawler: CPU time per page, browser processes included',
  note: source(results.section('browser-speed')),
  bars: [
    { label: 'orcrawl', value: browser, said: `${browser} ms`, isOurs: true },
    { label: 'Crawlee 3.18', value: browserCrawlee, said: `${browserCrawlee} ms` },
  ],
})}
## Main content and markdown

${barChart({
  title: `CPU time per page: ${ratio} times less`,
  note: source(results.section('extraction')),
  bars: [
    { label: 'orcrawl', value: own, said: `${own.toFixed(1)} ms`, isOurs: true },
    { label: 'Readability.js on jsdom', value: readability, said: `${readability} ms` },
  ],
})}
${scoreChart(root)}
${rampTable(results, source)}## What must hold

| What | Measured | Repeat it |
|---|---|---|
| Pages lost, items stored twice, over ${killed} \`kill -9\` of a crawl | ${lost}, ${twice} | \`npm run measure -- kill\` |
| The same on pods; killed were fetchers, parsers, orchestrators, Redis servers: ${podsKills} | ${podsLost}, ${podsTwice} | \`npm run measure -- pods-kill\` |
| First request after a restart with a million URLs queued | ${resumeSecs} s | \`npm run measure -- queue\` |
| Memory of a batch of a million URLs, streamed | ${millionMb} MB | \`npm run measure -- many-million\` |
| Smallest gap the server saw with a delay of 1,000 ms, two processes | ${gapMs.toLocaleString('en')} ms | \`npm run measure -- polite\` |
| Commands sent to Redis per page | ${commands} | \`npm run measure -- redis-pages\` |
`;
  return { source: 'figures', out: 'figures.html', title: 'Measured figures', markdown, kind: 'generated' };
}

/** Nothing before it is measured. */
function rampTable(results, source) {
  if (!results.has('pods-ramp')) return '';
  const rows = rampRows(results).map(({ store, pods, rate, redis, linkMs, connections, mb }) => {
    const cells = [store, pods, rate, redis, `${linkMs} ms`, connections, `${mb} MB`];
    return `| ${cells.join(' | ')} |`;
  });
  return `## From one pod to sixteen

The same crawl on this many pods of one machine, by where their stores are. A link to another pod is timed at the web server, from the end of the page to the request of its link, beside the busy crawl. ${source(results.section('pods-ramp'))}

| Stores | Pods | Pages per CPU-second | Redis, CPU-ms per page | Link to another pod | Connections | Memory |
|---|---|---|---|---|---|---|
${rows.join('\n')}

`;
}

const CONTESTANTS = [
  ['content', 'orcrawl: text and links', true],
  ['cheerio', 'orcrawl: a DOM ($)', true],
  ['crawlee', 'Crawlee 3.18 CheerioCrawler', false],
  ['bare', 'a bare loop', false],
];

function costChart(title, costs, note) {
  const bars = CONTESTANTS.map(([key, label, isOurs]) => {
    const { cpuMs } = costs[key];
    return { label, value: cpuMs, said: `${cpuMs.toFixed(2)} ms`, isOurs };
  });
  return barChart({ title, note, bars });
}

function memoryChart(costs, note) {
  const bars = CONTESTANTS.map(([key, label, isOurs]) => ({
    label,
    value: costs[key].mb,
    said: `${costs[key].mb.toLocaleString('en')} MB`,
    isOurs,
  }));
  return barChart({ title: 'Real pages: peak resident memory', note, bars });
}

function scoreChart(root) {
  const text = readFileSync(path.join(root, 'bench/EXTRACTION.md'), 'utf8');
  const rows = [...text.matchAll(/^\| (?:\*\*)?([a-z]+)(?:\*\*)? \| (\d+) \| ([\d.]+) \|/gm)];
  const bars = rows.map(([, kind, pages, f1]) => ({
    label: `${kind} (${pages} pages)`,
    value: Number(f1),
    said: Number(f1).toFixed(3),
    isOurs: true,
  }));
  return barChart({
    title: 'F1 of the main content by set and by kind of page, cross-validated',
    bars,
    note: 'Repeat it: npm run train -- --report-only',
  });
}
