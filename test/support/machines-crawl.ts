// One crawl on three machines (machines.ts) that share only the stores: started, cut off, stopped and killed by a test or
// a measure, and judged by the fault tests' own checker from what the web server saw and what all disks hold.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkCase, type Verdict } from '../fault/suite/case.js';
import { childrenOf, type Helper, MAIN, type Program, startHelper, startProgram } from '../fault/suite/program.js';
import { createNetwork, type Machine, type Network, WEB_NET } from './machines.js';

export interface MachinesPlan {
  readonly pods: number;
  readonly hosts: number;
  /** Per host. */
  readonly pages: number;
  readonly delaySecs: number;
  readonly leaseSecs: number;
  readonly maxPages?: number;
  readonly latencyMs?: readonly [number, number];
}

export interface RunningMachine {
  readonly machine: Machine;
  readonly program: Program;
  /** Its processes stand still, as in a paused virtual machine. */
  pause(): void;
  resume(): void;
  /** All of its processes die at once. */
  kill(): Promise<void>;
}

export interface MachinesCrawl {
  readonly network: Network;
  run(machine: number, ...flags: readonly string[]): RunningMachine;
  /** `orcrawl stop` on a machine. */
  stop(machine: number, ...flags: readonly string[]): Program;
  served(): Promise<number>;
  untilServed(pages: number): Promise<void>;
  verdict(): Promise<Verdict>;
  dispose(): Promise<void>;
}

const PATIENCE_MS = 180_000;
const HANDLER = fileURLToPath(new URL('../fault/programs/pods-handler.mjs', import.meta.url));

export async function startMachines(plan: MachinesPlan): Promise<MachinesCrawl> {
  const folder = mkdtempSync(path.join(tmpdir(), 'orcrawl-machines-'));
  const network = createNetwork(3, folder);
  const programs: Program[] = [];
  let web: Helper | undefined;
  const dispose = async (): Promise<void> => {
    for (const program of programs) {
      for (const pid of [program.pid, ...childrenOf(program.pid)]) end(pid);
      await program.kill();
    }
    web?.close();
    await network.dispose();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  };
  try {
    const urls = await network.startStores(plan.pods, folder);
    const webPlan = { shape: 'tree', hosts: plan.hosts, pages: plan.pages, net: WEB_NET } as const;
    const logFile = path.join(folder, 'requests.jsonl');
    const server = { plan: webPlan, latencyMs: plan.latencyMs ?? [3, 25], seed: 1, logFile };
    const serving = (web = await startHelper('server.mjs', server, network.beforeStores));
    const seeds = Array.from(
      { length: plan.hosts },
      (_, host) => `http://${WEB_NET}.${host >> 7}.${(host & 127) + 1}:${serving.port}/`,
    );
    const dirs = (kind: string) =>
      network.machines.map((machine) => path.join(machine.folder, 'ssd', ...kind.split('/')));
    for (const machine of network.machines) {
      const lines = [
        ...['pods:', ...urls.map((url) => `  - redis_url: ${url}`)],
        'data_dirs: [ssd]',
        'state_dir: state',
        'log_dir: logs',
        'seed_file: seeds.txt',
        'email: test@example.com',
        'handler: ./handler.mjs',
        `politeness_delay_seconds: ${plan.delaySecs}`,
        'fetchers_per_pod: 1',
        'fetcher_workers: 20',
        'allow_private_addresses: true',
        'enable_cpu_affinity: false',
        'enable_prometheus: false',
        `lease_seconds: ${plan.leaseSecs}`,
        ...(plan.maxPages === undefined ? [] : [`max_pages: ${plan.maxPages}`]),
      ];
      writeFileSync(path.join(machine.folder, 'crawl.yaml'), `${lines.join('\n')}\n`);
      writeFileSync(path.join(machine.folder, 'seeds.txt'), `${seeds.join('\n')}\n`);
      copyFileSync(HANDLER, path.join(machine.folder, 'handler.mjs'));
    }
    const start = (index: number, args: readonly string[]): Program => {
      const machine = network.machines[index]!;
      const program = startProgram([MAIN, ...args], {
        name: `${machine.name} ${args.join(' ')}`,
        cwd: machine.folder,
        before: machine.before,
      });
      programs.push(program);
      return program;
    };
    const served = async (): Promise<number> => (await serving.call('served')) as number;
    return {
      network,
      run(index, ...flags) {
        const program = start(index, ['run', '--config', 'crawl.yaml', ...flags]);
        const all = (): number[] => [program.pid, ...childrenOf(program.pid)];
        return {
          machine: network.machines[index]!,
          program,
          pause: () => all().forEach((pid) => end(pid, 'SIGSTOP')),
          resume: () => all().forEach((pid) => end(pid, 'SIGCONT')),
          async kill() {
            const pids = all();
            // Before the orchestrator: its children are found through it.
            for (const pid of pids) end(pid, 'SIGSTOP');
            for (const pid of pids.slice(1)) end(pid);
            await program.kill();
          },
        };
      },
      stop: (index, ...flags) => start(index, ['stop', '--config', 'crawl.yaml', ...flags]),
      served,
      async untilServed(pages) {
        for (const deadlineMs = performance.now() + PATIENCE_MS; (await served()) < pages; await delay(50)) {
          if (performance.now() < deadlineMs && programs.some(({ isRunning }) => isRunning)) continue;
          const said = programs.map((program) => `${program.stdout()}${program.stderr()}`.slice(-1_000));
          throw new Error(`${await served()} of ${pages} pages\n${said.join('\n')}`);
        }
      },
      async verdict() {
        await serving.call('save');
        return checkCase(folder, {
          plan: webPlan,
          port: serving.port,
          logFile,
          delayMs: plan.delaySecs * 1_000,
          stores: [
            { kind: 'items', paths: dirs('datasets/default') },
            { kind: 'content', paths: dirs('') },
          ],
          runs: programs.map((program) => program.facts()).filter(({ name }) => name.includes(' run ')),
          excused: [],
          mayBeIncomplete: false,
        });
      },
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function end(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
  }
}

/** The machine whose output says last that it coordinates; undefined before the first does. */
export function coordinatorOf(running: readonly RunningMachine[]): RunningMachine | undefined {
  const number = ({ program }: RunningMachine): number => {
    const said = [...`${program.stdout()}${program.stderr()}`.matchAll(/coordinates the crawl \(number (\d+)\)/g)];
    return Number(said.at(-1)?.[1] ?? 0);
  };
  const [first] = [...running].sort((one, other) => number(other) - number(one));
  return first && number(first) > 0 ? first : undefined;
}
