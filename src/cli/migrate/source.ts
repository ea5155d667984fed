// One source file of a Crawlee project: its imports rewritten, and what needs a person's eye.
// Promise: only module names change; a file without them comes back as it was. Linear in the length of the file.

/** Where imports of Crawlee lead from now on. */
export const TARGET = 'orcrawl/crawlee';

/** One place in a file. */
export interface Finding {
  readonly line: number;
  readonly name: string;
  readonly message: string;
  /** `unsupported`: nothing here does it. `changed`: it runs, in another way. */
  readonly kind: 'unsupported' | 'changed';
}
export interface Rewritten {
  readonly text: string;
  readonly imports: readonly { readonly line: number; readonly from: string }[];
  readonly findings: readonly Finding[];
}

const PARTS = 'core|basic|http|cheerio|playwright|browser|browser-pool|memory-storage|utils|types|impit-client';
/** A module's name where modules are named: imports, `require`, mocks, augmentations. */
const MODULE_NAME = new RegExp(
  `(\\b(?:from|import|module)\\s{0,20}|\\b(?:require|import|resolve|mock|doMock|unmock|importActual)\\(\\s{0,20})(['"\`])(crawlee|@crawlee/(?:${PARTS}))\\2`,
  'g',
);
const FOREIGN =
  /\b(?:from\s{0,20}|import\s{0,20}\(?\s{0,20}|require\(\s{0,20})['"`](@crawlee\/(?:puppeteer|jsdom|linkedom|stagehand|cli|templates|otel)|apify|puppeteer|got-scraping)['"`]/g;

const NO_BROWSER = 'not provided: use PlaywrightCrawler';
const NO_DOM = 'not provided: use CheerioCrawler';
const MODULES: Readonly<Record<string, string>> = {
  '@crawlee/puppeteer': NO_BROWSER,
  puppeteer: 'crawlers do not use Puppeteer: use Playwright, or a BrowserPool of your own',
  '@crawlee/jsdom': NO_DOM,
  '@crawlee/linkedom': NO_DOM,
  '@crawlee/stagehand': 'not provided',
  '@crawlee/cli': 'not provided: see orcrawl init',
  '@crawlee/templates': 'not provided: see orcrawl init',
  '@crawlee/otel': 'not provided',
  'got-scraping': 'keeps working on its own; gotScraping of orcrawl/crawlee uses the built-in engine',
  apify: "the platform's client is not replaced: Actor keeps using its own Crawlee",
};

interface Rule {
  readonly kind: Finding['kind'];
  readonly message: string;
}
const unsupported = (message: string): Rule => ({ kind: 'unsupported', message });
const changed = (message: string): Rule => ({ kind: 'changed', message });

/** Names that are worth a look wherever they stand in a file that imports Crawlee. */
const NAMES: Readonly<Record<string, Rule>> = {
  PuppeteerCrawler: unsupported(NO_BROWSER),
  createPuppeteerRouter: unsupported(NO_BROWSER),
  launchPuppeteer: unsupported(NO_BROWSER),
  puppeteerUtils: unsupported(NO_BROWSER),
  PuppeteerPlugin: changed('drives a BrowserPool of your own, not a crawler'),
  JSDOMCrawler: unsupported(NO_DOM),
  createJSDOMRouter: unsupported(NO_DOM),
  LinkeDOMCrawler: unsupported(NO_DOM),
  createLinkeDOMRouter: unsupported(NO_DOM),
  StagehandCrawler: unsupported('not provided'),
  handleCloudflareChallenge: unsupported('not provided: no challenge is solved'),
  pseudoUrls: unsupported('an error: use globs or regexps'),
  handlePageFunction: changed('is an older name: use requestHandler'),
  handleRequestFunction: changed('is an older name: use requestHandler'),
  handleFailedRequestFunction: changed('is an older name: use failedRequestHandler'),
  handleRequestTimeoutSecs: changed('is an older name: use requestHandlerTimeoutSecs'),
  useFingerprints: changed('is false by default; true needs fingerprint-generator and fingerprint-injector installed'),
  fingerprintOptions: changed('needs useFingerprints: true, which is false by default'),
  useHeaderGenerator: changed('is false by default; true needs header-generator installed'),
  ignoreSslErrors: changed('is false by default: certificates are checked'),
  purgeOnStart: changed("is 'finished' by default: a crawl that was interrupted goes on"),
};
const NAMED = new RegExp(`\\b(?:${Object.keys(NAMES).join('|')})\\b`, 'g');

/** A file after the move. */
export function rewriteSource(text: string): Rewritten {
  const lineOf = lineFinder(text);
  const imports: { line: number; from: string }[] = [];
  const findings: Finding[] = [];
  for (const match of text.matchAll(FOREIGN)) {
    const name = match[1]!;
    findings.push({ line: lineOf(match.index), name, message: MODULES[name]!, kind: 'unsupported' });
  }
  const changedText = text.replace(MODULE_NAME, (_, before: string, quote: string, from: string, at: number) => {
    imports.push({ line: lineOf(at), from });
    return `${before}${quote}${TARGET}${quote}`;
  });
  // Other files may use the same words for other things.
  if (imports.length > 0 || findings.length > 0) {
    for (const match of text.matchAll(NAMED)) {
      const [name] = match;
      findings.push({ line: lineOf(match.index), name, ...NAMES[name]! });
    }
  }
  return { text: changedText, imports, findings: findings.sort((a, b) => a.line - b.line) };
}

/** The number of the line that a position is on; positions are asked for in any order. */
function lineFinder(text: string): (at: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ends.push(at);
  return (at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

type Dependencies = Record<string, string>;

/** package.json after the move: orcrawl where Crawlee was; undefined when it names no Crawlee. */
export function rewritePackage(text: string, version: string): string | undefined {
  const content = JSON.parse(text) as Record<string, Dependencies | undefined>;
  let isChanged = false;
  for (const field of ['dependencies', 'devDependencies', 'peerDependencies'] as const) {
    const listed = content[field];
    if (!listed || typeof listed !== 'object') continue;
    const ours = Object.keys(listed).filter((name) => name === 'crawlee' || PACKAGE.test(name));
    if (ours.length === 0) continue;
    isChanged = true;
    // The client is ours, what speaks for it is not.
    if ('@crawlee/impit-client' in listed) listed['impit'] ??= IMPIT_VERSION;
    for (const name of ours) delete listed[name];
    // Other names keep their order; npm sorts them at the next install.
    listed['orcrawl'] ??= version;
    // Crawlee's crawler brings Playwright as the user installs it; ours drives the core package.
    if ('playwright' in listed) listed['playwright-core'] ??= listed['playwright']!;
  }
  if (!isChanged) return undefined;
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const written = `${JSON.stringify(content, null, indent)}\n`;
  return text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written;
}
/** The range of the package that `ImpitHttpClient` drives. */
const IMPIT_VERSION = '>=0.13.0';
const PACKAGE = new RegExp(`^@crawlee/(?:${PARTS})$`);
