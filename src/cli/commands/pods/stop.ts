// `orcrawl stop --config FILE`: stops a crawl on pods on all its machines, and waits until it has.
// Promise: nothing is lost; the exit code says whether all machines have ended.
import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { countOf } from '../../../observe/figures.js';
import { readPodsConfig } from '../../../pods/config/config.js';
import type { RunningPod, Standing } from '../../../pods/operate/stop.js';
import { seconds } from '../../arguments.js';
import { EXIT } from '../../exit-codes.js';
import { addStoreFlags, type ConfigFlags, reportConfigProblems } from '../../pods-flags.js';
import { complain, quoted, say, shown } from '../../terminal.js';

interface StopFlags extends ConfigFlags {
  readonly timeout: number;
}

const LOOK_MS = 500;
/** Workers get a minute to finish; then the files are closed. */
const TIMEOUT_SECS = 120;

const EXIT_CODES = `
Example:
  $ orcrawl stop --config crawl.yaml

Exit codes:
  0  the crawl has stopped, or nothing was running
  1  invalid configuration, or the store of the coordinating pod does not answer
  2  some pods still run after the timeout, or their store does not answer

Ctrl-C on a machine stops that machine only; the others continue.
`;

export function addStopCommand(program: Command, onExit: (code: number) => void): void {
  addStoreFlags(
    program
      .command('stop')
      .summary('stop a crawl on pods, on all its machines')
      .description(
        'Asks every machine of the crawl to finish its pages in progress and to exit, and waits until all have. ' +
          'Run it anywhere the stores can be reached. run --resume continues the crawl.',
      )
      .requiredOption('--config <FILE>', 'the YAML file')
      .option('--timeout <SECONDS>', 'how long to wait; 0 does not wait', seconds, TIMEOUT_SECS),
  )
    .addHelpText('after', EXIT_CODES)
    .action(async (flags: StopFlags) => onExit(await stop(flags)));
}

async function stop(flags: StopFlags): Promise<number> {
  const config = await readPodsConfig(flags.config, flags, { isToRun: false }).catch((error: unknown) => {
    reportConfigProblems(error);
    return undefined;
  });
  if (!config) return EXIT.misuse;
  const { openStopper } = await import('../../../pods/operate/stop.js');
  const stopper = openStopper(config);
  try {
    const before = await stopper.standing();
    const resume = `Continue with orcrawl run --config ${quoted(shown(flags.config!, 500))} --resume`;
    if (before.running.length === 0 && before.silent.length === 0) {
      say(`Nothing runs: no pod of this crawl is supervised. ${resume}`);
      return EXIT.done;
    }
    await stopper.stop();
    if (flags.timeout === 0) {
      say(`Asked ${countOf(before.running.length, 'pod')} to stop.`);
      return EXIT.done;
    }
    let now: Standing = before;
    for (const deadlineMs = performance.now() + flags.timeout * 1_000; performance.now() < deadlineMs;) {
      now = await stopper.standing();
      if (now.running.length === 0 && now.silent.length === 0) {
        say(`Stopped ${countOf(before.running.length, 'pod')}. ${resume}`);
        return EXIT.done;
      }
      await delay(LOOK_MS);
    }
    for (const { pod, who } of now.running) complain(`pod ${pod} still runs: ${shown(who)}`);
    for (const pod of now.silent)
      complain(`pod ${pod}: its store does not answer; it stops when it can read the signal`);
    complain(`error: not stopped after ${flags.timeout} s: ${namesOf(now)}. They were asked: look again later`);
    return EXIT.someFailed;
  } finally {
    await stopper.close();
  }
}

const namesOf = ({ running, silent }: { running: readonly RunningPod[]; silent: readonly number[] }): string =>
  [...running.map(({ pod }) => pod), ...silent]
    .sort((first, second) => first - second)
    .map((pod) => `pod ${pod}`)
    .join(', ');
