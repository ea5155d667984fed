// The flags of a crawl's order: --order, --query, --scorers and --enough, the same for every command that crawls.
// Promise: what they accept is what the crawler's options accept.
import { InvalidArgumentError, Option } from 'commander';
import { CRAWL_ORDERS, ORDER_SHAPE, SCORER_NAMES, type Scorers } from '../crawl/order/options.js';

export const orderFlags = (): Option[] => [
  new Option('--order <O>', 'which pages to visit first (default: bfs; best-first with --query)').choices(CRAWL_ORDERS),
  new Option('--query <WORDS>', 'visit pages about this first').argParser(queryWords),
  new Option(
    '--scorers <NAME=N>',
    `what decides, and its weight: ${SCORER_NAMES.join(', ')} (may be repeated)`,
  ).argParser(scorers),
  new Option('--enough', 'with --query: stop when new pages add nothing to what was found'),
];

function queryWords(text: string): string {
  if (ORDER_SHAPE.query.accepts(text)) return text;
  throw new InvalidArgumentError(`Expected ${ORDER_SHAPE.query.expected}.`);
}

function scorers(text: string, before: Scorers = {}): Scorers {
  const [name = '', weight = '1'] = text.split('=', 2);
  const all = { ...before, [name]: weight.trim() === '' ? NaN : Number(weight) };
  if (SCORER_NAMES.some((known) => known === name) && ORDER_SHAPE.scorers.accepts(all)) return all;
  throw new InvalidArgumentError(`Expected ${SCORER_NAMES.join(', ')}, each with a weight such as depth=0.5.`);
}
