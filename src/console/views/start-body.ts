// What the form of a new job says, as the body of the API's request: only what was filled in.
export type What = 'crawl' | 'scrape' | 'batch' | 'map';

export interface Form {
  readonly what: What;
  readonly url: string;
  readonly urls: string;
  readonly limit: string;
  readonly depth: string;
  readonly search: string;
  readonly include: string;
  readonly exclude: string;
  readonly delay: string;
  readonly concurrency: string;
  readonly isWhole: boolean;
  readonly hasSubdomains: boolean;
  readonly formats: readonly string[];
  readonly isMain: boolean;
}

export const NEW_FORM: Form = {
  what: 'crawl',
  url: '',
  urls: '',
  limit: '100',
  depth: '',
  search: '',
  include: '',
  exclude: '',
  delay: '',
  concurrency: '',
  isWhole: false,
  hasSubdomains: false,
  formats: ['markdown'],
  isMain: true,
};

export const PATHS: Readonly<Record<What, string>> = {
  crawl: '/v2/crawl',
  scrape: '/v2/scrape',
  batch: '/v2/batch/scrape',
  map: '/v2/map',
};

export function bodyOf(form: Form): Record<string, unknown> {
  const url = form.url.trim() || 'https://example.com';
  const pages = { formats: form.formats, ...(!form.isMain && { onlyMainContent: false }) };
  switch (form.what) {
    case 'scrape':
      return { url, ...pages };
    case 'batch':
      return { urls: urlsOf(form.urls), ...pages };
    case 'map':
      return { url, ...number('limit', form.limit), ...(form.search.trim() && { search: form.search.trim() }) };
    case 'crawl':
      return {
        url,
        ...number('limit', form.limit),
        ...number('maxDiscoveryDepth', form.depth),
        ...(form.include.trim() && { includePaths: [form.include.trim()] }),
        ...(form.exclude.trim() && { excludePaths: [form.exclude.trim()] }),
        ...number('delay', form.delay),
        ...number('maxConcurrency', form.concurrency),
        ...(form.isWhole && { crawlEntireDomain: true }),
        ...(form.hasSubdomains && { allowSubdomains: true }),
        scrapeOptions: pages,
      };
    default:
      return form.what satisfies never;
  }
}

/** What is missing, as a sentence; '' when nothing is. */
export function problemIn(form: Form): string {
  if (form.what === 'batch') return urlsOf(form.urls).length === 0 ? 'Enter at least one URL.' : '';
  if (form.url.trim() === '') return 'Enter a URL.';
  for (const [name, text] of [
    ['Most pages', form.limit],
    ['Deepest link', form.depth],
    ['Seconds between pages', form.delay],
    ['Pages at once', form.concurrency],
  ] as const) {
    if (text.trim() !== '' && !Number.isFinite(Number(text))) return `${name}: “${text}” is not a number.`;
  }
  return form.what !== 'map' && form.formats.length === 0 ? 'Choose at least one format.' : '';
}

const urlsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const number = (name: string, text: string): Record<string, number> =>
  text.trim() === '' || !Number.isFinite(Number(text)) ? {} : { [name]: Number(text) };
