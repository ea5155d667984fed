// A crawl described in words, as parameters: the model fills in a form, and what it fills in is checked like any body.
import type { AskModel } from '../../crawl/model/ask.js';
import { extractBy } from '../../crawl/model/extract.js';
import { linkPatterns } from '../jobs/link-rules.js';
import type { CrawlRequest } from './schemas.js';

const FORM = {
  type: 'object',
  additionalProperties: false,
  properties: {
    includePaths: { type: 'array', items: { type: 'string', maxLength: 200 }, maxItems: 20 },
    excludePaths: { type: 'array', items: { type: 'string', maxLength: 200 }, maxItems: 20 },
    maxDiscoveryDepth: { type: 'integer', minimum: 0, maximum: 100 },
    crawlEntireDomain: { type: 'boolean' },
    allowSubdomains: { type: 'boolean' },
    allowExternalLinks: { type: 'boolean' },
    sitemap: { enum: ['skip', 'include', 'only'] },
    ignoreQueryParameters: { type: 'boolean' },
    limit: { type: 'integer', minimum: 1, maximum: 100_000 },
  },
};

export async function crawlParameters(
  model: AskModel,
  url: string,
  prompt: string,
  signal: AbortSignal,
): Promise<Partial<CrawlRequest>> {
  const { data } = await extractBy(model, `The crawl starts at ${url}`, {
    prompt: `Set the parameters of a web crawl that does this: ${prompt}. Paths are regular expressions matched against the path of a URL.`,
    schema: FORM,
    signal,
  });
  const found = data as Partial<CrawlRequest>;
  for (const patterns of [found.includePaths, found.excludePaths]) linkPatterns(patterns ?? []);
  return found;
}
