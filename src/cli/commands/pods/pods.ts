// `orcrawl pods up`: local redis-server processes for a configuration, for development. `orcrawl run` never starts any.
// Promise: starts only local stores that do not answer, each with its own port and data; all end with this command.
import type { Command } from 'commander';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { PRIVATE_FOLDER } from '../../../base/private-files.js';
import { EXIT, UsageError } from '../../exit-codes.js';
import { addStoreFlags, type ConfigFlags, reportConfigProblems } from '../../pods-flags.js';
import { say } from '../../terminal.js';

const EXAMPLE = '\nExample:\n  $ orcrawl pods up --config crawl.yaml\n';

export function addPodsCommand(program: Command, onExit: (code: number) => void): void {
  const pods = program
    .command('pods')
    .summary('local stores for development')
    .description('Starts the stores of a crawl on pods on this machine, for development.')
    .addHelpText('after', EXAMPLE);
  addStoreFlags(
    pods
      .command('up')
      .summary('start a local redis-server for each pod of a configuration')
      .description(
        'Starts the local Redis servers of a configuration that are not running, with appendfsync always ' +
          'and their data under state_dir, until Ctrl-C. Needs redis-server. For production see compose.',
      )
      .requiredOption('--config <FILE>', 'the YAML file'),
  )
    .addHelpText('after', EXAMPLE)
    .action(async (flags: ConfigFlags) => onExit(await up(flags)));
}

async function up(flags: ConfigFlags): Promise<number> {
  const [{ readPodsConfig }, { probeRedis }, { accessTo, parseAddress }] = await Promise.all([
    import('../../../pods/config/config.js'),
    import('../../../frontier/redis/server/probe.js'),
    import('../../../frontier/redis/server/address.js'),
  ]);
  const config = await readPodsConfig(flags.config, flags, { isToRun: false }).catch((error: unknown) => {
    process.exitCode = reportConfigProblems(error);
    return undefined;
  });
  if (!config) return EXIT.misuse;
  const started: ChildProcess[] = [];
  try {
    for (const index of config.ownPods) {
      const pod = config.pods[index]!;
      if (pod.kind !== 'redis') throw new UsageError(`pod ${index} is embedded: it needs no server`);
      const address = parseAddress(pod.redisUrl)!;
      const { path: socket, nodes, isTls, username } = address;
      if (address.kind !== 'server' || isTls || username !== undefined) {
        throw new UsageError(`pod ${index} is at ${pod.where}: only plain servers without users can be started here`);
      }
      if (socket === undefined && !isLocal(nodes[0]!.host)) {
        throw new UsageError(`pod ${index} is at ${pod.where}, not on this machine`);
      }
      const probe = () => probeRedis({ url: pod.redisUrl, connectTimeoutMs: PROBE_MS });
      if ((await probe()).problem === undefined) {
        say(`pod ${index}: ${pod.where} runs already`);
        continue;
      }
      const folder = path.join(config.stateDir, 'redis', `pod_${index}`);
      mkdirSync(folder, PRIVATE_FOLDER);
      const { password } = accessTo(address);
      const settings = [
        ...(socket === undefined
          ? [`port ${nodes[0]!.port}`, 'bind 127.0.0.1']
          : ['port 0', `unixsocket ${quoted(socket)}`]),
        ...[`dir ${quoted(folder)}`, 'save ""', 'appendonly yes', 'appendfsync always', 'maxmemory-policy noeviction'],
        ...(password === undefined ? [] : [`requirepass ${quoted(password)}`]),
      ];
      // By standard input: anybody can read the arguments of a process.
      const child = spawn('redis-server', ['-'], { stdio: ['pipe', 'ignore', 'ignore'] });
      child.stdin.on('error', () => undefined);
      child.stdin.end(`${settings.join('\n')}\n`);
      started.push(child);
      await untilUp(child, async () => (await probe()).problem === undefined);
      say(`pod ${index}: redis-server ${child.pid} at ${pod.where}, data in ${folder}`);
    }
    if (started.length === 0) return EXIT.done;
    say('Running until Ctrl-C.');
    const lost = await new Promise<string | undefined>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined));
      for (const child of started) {
        child.once('exit', (code, signal) => resolve(`redis-server ${child.pid} exited with ${signal ?? code}`));
      }
    });
    if (lost !== undefined) throw new UsageError(`${lost}; the others were stopped`);
    say('Stopped; the data is kept.');
    return EXIT.done;
  } finally {
    await Promise.all(started.map(end));
  }
}

const PROBE_MS = 1_000;
const START_MS = 20_000;

/** A value of redis.conf. */
const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;

function isLocal(host: string): boolean {
  return host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.')) || host === '::1';
}

async function untilUp(child: ChildProcess, isUp: () => Promise<boolean>): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  for (const deadlineMs = performance.now() + START_MS; !(await isUp());) {
    if (failure) throw new UsageError(`cannot start redis-server: ${failure.message}`);
    if (child.exitCode !== null) throw new UsageError(`redis-server exited with ${child.exitCode}`);
    if (performance.now() > deadlineMs) throw new UsageError('redis-server does not answer');
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
