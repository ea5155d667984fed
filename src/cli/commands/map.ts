// `orcrawl map`: the URLs of a site, one per line.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { pageUrl, wholeNumber } from '../arguments.js';
import { EXIT } from '../exit-codes.js';
import { complain, say } from '../terminal.js';

const EXAMPLES = `
Examples:
  $ orcrawl map example.com
  $ orcrawl map example.com --search pricing --limit 10
  $ orcrawl map example.com --sitemap only --json | jq -r .url
  $ orcrawl map example.com | orcrawl batch - --stream
`;

interface MapFlags {
  readonly search?: string;
  readonly limit?: number;
  readonly sitemap?: 'include' | 'skip' | 'only';
  readonly subdomains: boolean;
  readonly query?: boolean;
  readonly timeout?: number;
  readonly json?: boolean;
}

export function addMapCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('map')
    .summary('list the URLs of a site')
    .description('Lists the URLs of a site from its sitemaps, robots.txt and first pages, without a crawl.')
    .argument('<URL>', 'a bare domain gets https://')
    .option('--search <WORDS>', 'the best matches first, and only those', words)
    .option('--limit <N>', 'at most this many URLs (default: 5000)', wholeNumber(1, 1_000_000))
    .addOption(new Option('--sitemap <HOW>', 'whether to use sitemaps').choices(['include', 'skip', 'only']))
    .option('--no-subdomains', 'this host only, without subdomains')
    .option('--query', 'keep the query string of URLs')
    .option('--timeout <SECS>', 'time limit in seconds (default: 60)', wholeNumber(1, 3_600))
    .option('--json', 'a JSON line per URL, with title and description where known')
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: MapFlags) => onExit(await list(url, flags)));
}

async function list(text: string, flags: MapFlags): Promise<number> {
  const { map } = await import('../../crawl/map/map.js');
  const links = await map(pageUrl(text), {
    search: flags.search,
    limit: flags.limit,
    sitemap: flags.sitemap,
    includeSubdomains: flags.subdomains,
    ignoreQueryParameters: !flags.query,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  });
  for (const link of links) say(flags.json ? JSON.stringify(link) : link.url);
  if (links.length > 0) return EXIT.done;
  complain(flags.search ? 'No URL matches the search.' : 'No URLs were found. Is the host right?');
  return EXIT.someFailed;
}

function words(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected words to look for.');
  return text;
}
