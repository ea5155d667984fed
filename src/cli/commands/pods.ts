// `orcrawl pods up`: local redis-server processes for a configuration, for development. `orcrawl run` never starts any.
// Promise: only stores on this machine that do not answer are started, on their own ports with their own data; all end
// with this command.
import type { Command } from 'commander';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { addPodsFlags, type ConfigFlags, reportConfigProblems } from '../pods-flags.js';
import { say } from '../terminal.js';

export function addPodsCommand(program: Command, onExit: (code: number) => void): void {
  const pods = program.command('pods').summary('local stores for development').description('Stores of pods.');
  addPodsFlags(
    pods
      .command('up')
      .summary('start a local redis-server for each pod of a configuration')
      .description(
        'Starts the Redis servers of a configuration that are on this machine and do not run, with appendfsync always ' +
          'and their data under state_dir, and keeps them until Ctrl-C. Needs redis-server. For production see compose.',
      )
      .requiredOption('--config <FILE>', 'the YAML file'),
  ).action(async (flags: ConfigFlags) => onExit(await up(flags)));
}

async function up(flags: ConfigFlags): Promise<number> {
  const [{ readPodsConfig }, { probeRedis }] = await Promise.all([
    import('../../pods/config/config.js'),
    import('../../frontier/redis/server/probe.js'),
  ]);
  const config = await readPodsConfig(flags.config, flags).catch((error: unknown) => {
    process.exitCode = reportConfigProblems(error);
    return undefined;
  });
  if (!config) return EXIT.misuse;
  const started: ChildProcess[] = [];
  try {
    for (const index of config.ownPods) {
      const pod = config.pods[index]!;
      if (pod.kind !== 'redis') throw new UsageError(`pod ${index} is embedded: it needs no server`);
      const { hostname, port } = new URL(pod.redisUrl);
      if (!isLocal(hostname)) throw new UsageError(`pod ${index} is at ${pod.where}, not on this machine`);
      const probe = () => probeRedis({ url: pod.redisUrl, connectTimeoutMs: PROBE_MS });
      if ((await probe()).problem === undefined) {
        say(`pod ${index}: ${pod.where} runs already`);
        continue;
      }
      const folder = path.join(config.stateDir, 'redis', `pod_${index}`);
      mkdirSync(folder, PRIVATE_FOLDER);
      const { password } = new URL(pod.redisUrl);
      const child = spawn(
        'redis-server',
        [
          ...['--port', port || '6379', '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
          ...['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'],
          ...(password === '' ? [] : ['--requirepass', decodeURIComponent(password)]),
        ],
        { stdio: 'ignore' },
      );
      started.push(child);
      await untilUp(child, async () => (await probe()).problem === undefined);
      say(`pod ${index}: redis-server ${child.pid} at ${pod.where}, data in ${folder}`);
    }
    if (started.length === 0) return EXIT.done;
    say('Running until Ctrl-C.');
    const lost = await new Promise<string | undefined>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined));
      for (const child of started) {
        child.once('exit', (code, signal) => resolve(`redis-server ${child.pid} ended with ${signal ?? code}`));
      }
    });
    if (lost !== undefined) throw new UsageError(`${lost}: the others are stopped, too`);
    say('Stopped; the data is kept.');
    return EXIT.done;
  } finally {
    await Promise.all(started.map(end));
  }
}

const PROBE_MS = 1_000;
const START_MS = 20_000;

function isLocal(host: string): boolean {
  return host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.')) || host === '[::1]';
}

async function untilUp(child: ChildProcess, isUp: () => Promise<boolean>): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  for (const deadlineMs = performance.now() + START_MS; !(await isUp());) {
    if (failure) throw new UsageError(`redis-server cannot be started: ${failure.message}`);
    if (child.exitCode !== null) throw new UsageError(`redis-server ended with ${child.exitCode}`);
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
