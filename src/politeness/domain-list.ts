// Domain lists in files: one per line, `#` starts a comment, subdomains are included.
// Promise: streamed, so memory is only for the domains; all invalid lines are reported together.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CrawlError } from '../errors.js';
import { toDomain } from './domain-rules.js';

const MAX_NAMED_LINES = 10;

/**
 * The domains of a file, for `createDomainRules`.
 *
 * @example
 * const exclude = await loadDomainList('exclude.txt');
 */
export async function loadDomainList(path: string): Promise<string[]> {
  const domains = new Set<string>();
  const wrong: string[] = [];
  const file = createReadStream(path, 'utf8');
  let number = 0;
  try {
    for await (const line of createInterface({ input: file, crlfDelay: Infinity })) {
      number++;
      const said = line.replace(/#.*/, '').trim();
      if (said === '') continue;
      const domain = toDomain(said);
      if (domain !== undefined) domains.add(domain);
      else if (wrong.length < MAX_NAMED_LINES) wrong.push(`line ${number}: "${said.slice(0, 60)}"`);
    }
  } catch (cause) {
    throw new CrawlError('OPTION_INVALID', `cannot read the domain list ${path}: ${(cause as Error).message}`, {
      cause,
    });
  } finally {
    file.destroy();
  }
  if (wrong.length > 0) throw new CrawlError('OPTION_INVALID', `${path} has invalid domains: ${wrong.join(', ')}`);
  return [...domains];
}
