// The order in which readers meet the pages. Guarantee: a page that is not listed here stands at the end, under More.

const SECTIONS = [
  ['Start', ['README.md', 'docs/getting-started.md']],
  [
    'Guides',
    [
      'docs/guides/scrape-a-list.md',
      'docs/guides/crawl-a-site.md',
      'docs/guides/log-in.md',
      'docs/guides/feed-a-model.md',
      'docs/guides/crawl-the-web.md',
    ],
  ],
  [
    'Topics',
    [
      'docs/batch.md',
      'docs/content.md',
      'docs/browser.md',
      'docs/politeness.md',
      'docs/robots-and-sitemaps.md',
      'docs/traps.md',
      'docs/storage.md',
      'docs/postgres.md',
      'docs/content-files.md',
      'docs/pods.md',
      'docs/pods-redis.md',
      'docs/pods-failures.md',
      'docs/kubernetes.md',
      'docs/observability.md',
      'docs/outgrowing.md',
      'docs/scale.md',
      'docs/serve.md',
      'docs/simweb.md',
    ],
  ],
  ['Recipes', ['examples/', 'examples/pods/']],
  ['Coming from', ['docs/from-crawlee.md', 'docs/from-crawl4ai.md', 'docs/from-scrapy.md', 'docs/from-firecrawl.md']],
  [
    'Reference',
    [
      'api/',
      'commands/',
      'docs/options.md',
      'docs/settings.md',
      'docs/pods-keys.md',
      'docs/errors.md',
      'docs/limits.md',
    ],
  ],
  ['Measured', ['figures', 'docs/performance.md', 'bench/RESULTS.md', 'bench/EXTRACTION.md']],
  ['Project', ['docs/lifecycle.md', 'docs/decisions/', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']],
];

/** Names in the navigation where the page's own title is too long. */
const SHORT = {
  'README.md': 'What it is',
  'docs/batch.md': 'Many URLs',
  'docs/browser.md': 'Browsers',
  'docs/serve.md': 'Serving',
  'docs/pods-redis.md': 'Pods: Redis',
  'docs/pods-failures.md': 'Pods: failures and durability',
  'docs/from-crawlee.md': 'Crawlee',
  'docs/from-crawl4ai.md': 'Crawl4AI',
  'docs/from-scrapy.md': 'Scrapy',
  'docs/from-firecrawl.md': 'Firecrawl',
  'bench/RESULTS.md': 'All results',
  'bench/EXTRACTION.md': 'Extraction scores',
};

/** Pages reached from a listed one: its prefix is enough. */
const UNDER_ONE = ['docs/decisions/', 'examples/', 'commands/', 'api/'];

/** Pages that nobody has placed yet. */
const REST = 'More';

/** The sections with their links, and what is wrong with the list above. */
export function navigationOf(pages, { quick = false } = {}) {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const link = (source) => {
    const { out, title } = bySource.get(source);
    return { source, out, title: SHORT[source] ?? title };
  };
  const listed = SECTIONS.flatMap(([, sources]) => sources);
  const rest = [...bySource.keys()].filter(
    (source) => !listed.includes(source) && !UNDER_ONE.some((prefix) => source.startsWith(prefix)),
  );
  const sections = [...SECTIONS, [REST, rest]]
    .map(([name, sources]) => ({ name, links: sources.filter((source) => bySource.has(source)).map(link) }))
    .filter(({ links }) => links.length > 0);
  const missing = listed.filter((source) => !bySource.has(source) && !(quick && source === 'api/'));
  return {
    sections,
    problems: missing.map((source) => `scripts/docs/navigation.mjs lists ${source}, which is not there`),
  };
}
