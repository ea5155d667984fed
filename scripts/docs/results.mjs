// bench/RESULTS.md as data. Guarantee: a figure that a page needs and the file lacks is an error that names it.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export function readResults(root) {
  const text = readFileSync(path.join(root, 'bench/RESULTS.md'), 'utf8');
  const sections = new Map();
  for (const [, name, body] of text.matchAll(/<!-- ([\w-]+) -->\n([\s\S]*?)<!-- \/\1 -->/g)) {
    const rows = [...body.matchAll(/^\| (.+?) \| (.+?) \| (.*?) ?\|$/gm)]
      .slice(1)
      .map(([, what, measured]) => ({ what, measured }));
    const [, command, date, machine] = /^`(.+?)`, ([\d-]+), (.+)$/m.exec(body) ?? [];
    sections.set(name, { rows, command, date, machine });
  }

  function section(name) {
    const found = sections.get(name);
    if (found === undefined) throw new Error(`bench/RESULTS.md has no section ${name}: npm run measure -- ${name}`);
    return found;
  }

  /** The numbers that `pattern` takes out of the first row of a section whose name contains `what`. */
  function numbers(name, what, pattern) {
    const row = section(name).rows.find((one) => one.what.includes(what));
    const match = row && pattern.exec(row.measured);
    if (!match) throw new Error(`bench/RESULTS.md, section ${name}: cannot read "${what}" by ${pattern}`);
    return match.slice(1).map(Number);
  }

  return { section, numbers, has: (name) => sections.has(name) };
}

const CPU = /([\d.]+) CPU-ms per page.*?; (\d+) MB;.*?([\d.]+) × Crawlee/;

/** What a page of a crawl costs each contestant, on one of the two webs of the benchmark. */
export function crawlCosts({ numbers }, web) {
  const cost = (contestant) => {
    const [cpuMs, mb, timesCrawlee] = numbers('crawl', `${web}, HTTP: ${contestant}`, CPU);
    return { cpuMs, mb, timesCrawlee };
  };
  return {
    content: cost('orcrawl, `content`'),
    cheerio: cost('orcrawl, `$`'),
    bare: cost('bare loop'),
    crawlee: cost('Crawlee CheerioCrawler, memory'),
  };
}

/** The same work in a browser: CPU-ms a page, ours and Crawlee's. */
export const browserCosts = ({ numbers }) =>
  numbers('browser-speed', 'PlaywrightCrawler', /^(\d+) and (\d+): ([\d.]+)×/);

/** Main content and markdown of a page: how many times faster, Readability's and our CPU-ms. */
export const extractionCosts = ({ numbers }) =>
  numbers('extraction', 'beside Readability', /^(\d+) × \(([\d.]+) and ([\d.]+) CPU-ms/);

const RAMP =
  /^(\d+) pages per CPU-s .*Redis ([\d.]+) CPU-ms per page.* is fetched after (\d+) ms .*; (\d+) connections; (\d+) MB/;

/** The rows of the ramp: what a page costs on so many pods, by where their stores are. */
export function rampRows({ section }) {
  return section('pods-ramp').rows.flatMap(({ what, measured }) => {
    const [, store, pods] = /^(.+), (\d+) pods?$/.exec(what) ?? [];
    const [, rate, redis, linkMs, connections, mb] = RAMP.exec(measured) ?? [];
    return store === undefined || rate === undefined ? [] : [{ store, pods, rate, redis, linkMs, connections, mb }];
  });
}
