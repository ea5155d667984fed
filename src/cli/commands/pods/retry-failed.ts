// `orcrawl retry-failed`: queues again what failed, in a crawl on pods, a script's storage or the folder of `crawl`.
// Promise: each failed URL is queued once, however often the command is run or killed; nothing is fetched by it.
import type { Command } from 'commander';
import { ERROR_CLASSES } from '../../../errors.js';
import { countOf, countText } from '../../../observe/figures.js';
import { EXIT, UsageError } from '../../exit-codes.js';
import { isStorage, retryInQueue } from '../../fates/stored-queue.js';
import { addStoreFlags, type ConfigFlags, reportConfigProblems } from '../../pods-flags.js';
import { complain, quoted, say, shown } from '../../terminal.js';

interface RetryFlags extends ConfigFlags {
  readonly storage?: string;
  readonly queue: string;
  readonly code?: readonly string[];
}

const EXAMPLES = `
Examples:
  $ orcrawl retry-failed --config crawl.yaml                 then: orcrawl run --config crawl.yaml --resume
  $ orcrawl retry-failed --config crawl.yaml --code FETCH_TIMEOUT,HTTP_STATUS
  $ orcrawl retry-failed --storage ./storage                 then run the script again
  $ orcrawl retry-failed --storage orcrawl-out/example.com   then: orcrawl crawl --resume --out …

The crawl must not be running. URLs that were skipped are not queued again.
`;

export function addRetryFailedCommand(program: Command, onExit: (code: number) => void): void {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, ...value.split(',')];
  addStoreFlags(
    program
      .command('retry-failed')
      .summary('queue again what failed')
      .description('Queues the URLs of a crawl again that failed for good. They are fetched when the crawl is resumed.')
      .option('--config <FILE>', 'the YAML file of a crawl on pods')
      .option('--storage <DIR>', 'storage folder of a script, or the folder of orcrawl crawl')
      .option('--queue <NAME>', 'queue in the storage folder', 'default')
      .option('--code <CODES>', 'only failures with these codes (docs/errors.md), separated by commas', collect),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: RetryFlags) => onExit(await retry(flags)));
}

async function retry(flags: RetryFlags): Promise<number> {
  const codes = flags.code && new Set(flags.code.map((code) => code.trim().toUpperCase()));
  const unknown = [...(codes ?? [])].find((code) => !(code in ERROR_CLASSES));
  if (unknown !== undefined) throw new UsageError(`unknown error code ${shown(unknown)}: see docs/errors.md`);
  if ((flags.config === undefined) === (flags.storage === undefined)) {
    throw new UsageError('give either --config FILE (a crawl on pods) or --storage DIR (a script)');
  }
  if (flags.storage !== undefined) {
    if (!isStorage(flags.storage)) {
      throw new UsageError(`${shown(flags.storage)} has no request_queues: is it a storage folder?`);
    }
    const byCode = await retryInQueue(flags.storage, flags.queue, codes);
    tell(byCode, `Run the script again, or: orcrawl crawl --resume --out ${quoted(flags.storage)}`);
    return EXIT.done;
  }
  const { readPodsConfig } = await import('../../../pods/config/config.js');
  const config = await readPodsConfig(flags.config, flags, { isToRun: false }).catch((error: unknown) => {
    reportConfigProblems(error);
    return undefined;
  });
  if (!config) return EXIT.misuse;
  if (!config.recordFates) complain('warning: record_fates is false: only failures recorded before that are known');
  const { retryFailed } = await import('../../../pods/operate/retry-failed.js');
  const { byCode, tooLong, elsewhere } = await retryFailed(config, {
    codes,
    warn: (text) => complain(`warning: ${text}`),
  });
  tell(byCode, `Fetch them with: orcrawl run --config ${quoted(flags.config!)} --resume`);
  if (tooLong > 0)
    complain(`${countOf(tooLong, 'request')} with a large payload cannot be queued again from the index`);
  if (elsewhere > 0) complain(`${countOf(elsewhere, 'URL')} of pods on other machines: run the command there, too`);
  return EXIT.done;
}

function tell(byCode: Readonly<Record<string, number>>, next: string): void {
  const codes = Object.entries(byCode).sort(([, a], [, b]) => b - a);
  const total = codes.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return say('Nothing to retry: no URL has failed since the last time.');
  say(
    `Queued ${countOf(total, 'URL')} again: ${codes.map(([code, count]) => `${code} × ${countText(count)}`).join(', ')}`,
  );
  say(next);
}
