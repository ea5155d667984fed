// `orcrawl why URL`: what became of a URL and why, from the index of a crawl on pods, its stores, or a script's queue.
// Promise: reads only; says what it looked at when it finds nothing.
import type { Command } from 'commander';
import { type PodsConfig, readPodsConfig } from '../../../pods/config/config.js';
import { findEvents, type UrlEvent } from '../../../store/content/reading.js';
import { seedUrl } from '../../arguments.js';
import { EXIT, UsageError } from '../../exit-codes.js';
import { eventData, eventLine } from '../../fates/event-text.js';
import { eachFate, findInQueue, isStorage, storedFate } from '../../fates/stored-queue.js';
import { addStoreFlags, type ConfigFlags, folders, reportConfigProblems } from '../../pods-flags.js';
import { complain, say, shown } from '../../terminal.js';

interface WhyFlags extends ConfigFlags {
  readonly dataDir?: readonly string[];
  readonly storage?: string;
  readonly queue: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl why https://example.com/a --config crawl.yaml       a crawl on pods
  $ orcrawl why https://example.com/a --data-dir /mnt/ssd1,/mnt/ssd2
  $ orcrawl why https://example.com/a --storage ./storage       a script
  $ orcrawl why https://example.com/a --storage orcrawl-out/example.com
  $ orcrawl why --all --storage ./storage > fates.jsonl         every URL that failed or was skipped

Exit codes: 0 something is known of the URL, 1 nothing is.
`;

export function addWhyCommand(program: Command, onExit: (code: number) => void): void {
  addStoreFlags(
    program
      .command('why')
      .summary('what became of a URL, and why')
      .description('Tells how a URL ended: stored, failed, skipped or refused, with status, code, attempts and time.')
      .argument('[url]', 'the URL, as crawled')
      .option('--config <FILE>', 'the YAML file of a crawl on pods: also looks at its rules and stores')
      .option('-d, --data-dir <DIRS>', 'data directories of a crawl on pods', folders)
      .option('--storage <DIR>', 'storage folder of a script, or the folder of orcrawl crawl')
      .option('--queue <NAME>', 'queue in the storage folder', 'default')
      .option('--json', 'one JSON object per event, the newest first')
      .option('--all', 'instead of a URL, with --storage: all that failed or were skipped, as JSON lines'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (url: string | undefined, flags: WhyFlags) => onExit(await why(url, flags)));
}

async function why(typed: string | undefined, flags: WhyFlags): Promise<number> {
  if (flags.all) return whyAll(typed, flags);
  if (typed === undefined) throw new UsageError('give a URL, or --all with --storage DIR');
  const url = seedUrl(typed);
  if (flags.storage !== undefined) return whyInStorage(url, flags.storage, flags);
  if (flags.config === undefined && flags.dataDir === undefined) {
    throw new UsageError('where was it crawled? Give --config FILE, --data-dir DIR or --storage DIR');
  }
  const config =
    flags.config === undefined
      ? undefined
      : await readPodsConfig(flags.config, flags, { isToRun: false }).catch((error: unknown) => {
          reportConfigProblems(error);
          return undefined;
        });
  if (flags.config !== undefined && !config) return EXIT.misuse;
  const dataDirs = flags.dataDir ?? config!.dataDirs;
  const [lone] = dataDirs;
  if (!config && dataDirs.length === 1 && isStorage(lone!)) return whyInStorage(url, lone!, flags);
  const events = await findEvents(dataDirs, url, { onDamage: (message) => complain(shown(message, 2_000)) });
  const more = config === undefined ? [] : await fromPods(config, url, events);
  if (flags.json) for (const event of events) say(JSON.stringify(eventData(event)));
  else for (const line of [...events.map(eventLine), ...more]) say(line);
  if (events.length > 0 || more.length > 0) return EXIT.done;
  complain(`Nothing is recorded of ${shown(url)} in ${dataDirs.map((dir) => shown(dir)).join(', ')}.`);
  if (!config) complain('With --config FILE the rules and stores of the crawl are looked at, too.');
  return EXIT.misuse;
}

/** What the rules and the store say, unless the last event says it all. */
async function fromPods(config: PodsConfig, url: string, events: readonly UrlEvent[]): Promise<string[]> {
  if (events.length > 0 && events[0]!.fate?.kind !== 'again') return [];
  const { standingOf } = await import('../../../pods/operate/standing.js');
  return standingOf(config, url);
}

async function whyInStorage(url: string, folder: string, flags: WhyFlags): Promise<number> {
  if (!isStorage(folder)) throw new UsageError(`${shown(folder)} has no request_queues: is it a storage folder?`);
  const found = await findInQueue(folder, flags.queue, url);
  if (!found) {
    complain(`${shown(url)} was never queued in ${shown(folder)}: no page linked to it, or a filter left it out.`);
    return EXIT.misuse;
  }
  const { Request } = await import('../../../request/request.js');
  const fate = storedFate(found.state, Request.fromRecord(found.record, found.priority), found.reason);
  const { code, attempts, handledAt, errorMessages } = fate;
  if (flags.json) {
    say(JSON.stringify(fate));
    return EXIT.done;
  }
  const when = handledAt === undefined ? '' : `${handledAt.slice(0, 19).replace('T', ' ')} UTC  `;
  say(
    `${when}${fate.fate}${code === undefined ? '' : `, ${shown(code)}`}${attempts > 0 ? ` (attempts: ${attempts})` : ''}`,
  );
  for (const message of errorMessages) say(`  ${shown(message.split('\n', 1)[0]!, 300)}`);
  return EXIT.done;
}

async function whyAll(url: string | undefined, { storage, queue }: WhyFlags): Promise<number> {
  if (url !== undefined) throw new UsageError('give a URL or --all, not both');
  if (storage === undefined) throw new UsageError('--all needs --storage DIR; pods record fates in their index');
  if (!isStorage(storage)) throw new UsageError(`${shown(storage)} has no request_queues: is it a storage folder?`);
  await eachFate(storage, queue, (fate) => say(JSON.stringify(fate)));
  return EXIT.done;
}
