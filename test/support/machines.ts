// Machines for tests: network namespaces joined by virtual cables to one that holds the stores and the web. Each machine
// has its own boot, host name and folder, so that its processes know nothing of the others but what the stores say.
// Promise: `dispose` removes every namespace, cable and process that was made here.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The web's hosts and the stores, in the namespace of the stores. */
export const WEB_NET = '10.77';
const STORES_ADDRESS = '10.77.255.1';
const FIRST_PORT = 6_400;

export interface Machine {
  readonly name: string;
  readonly folder: string;
  /** Before a program that runs on this machine. */
  readonly before: readonly string[];
  /** Nothing passes any more, and nobody is told. */
  cut(): void;
  /** What the machine sends is lost; what is sent to it arrives. */
  cutOutward(): void;
  /** What is sent to the machine is lost. */
  cutInward(): void;
  mend(): void;
}

export interface Network {
  readonly machines: readonly Machine[];
  /** Before a program that runs where the stores are. */
  readonly beforeStores: readonly string[];
  /** Starts a Redis per pod that syncs always; resolves to their addresses. */
  startStores(count: number, folder: string): Promise<readonly string[]>;
  /** A command in the store of a pod. */
  redis(pod: number, ...command: readonly string[]): string;
  dispose(): Promise<void>;
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`);
}

/** All that leaves a device is dropped, as by a cable that is broken in this direction. */
function setDrop(namespace: string, device: string, isOn: boolean): void {
  const change = isOn ? ['replace', 'dev', device, 'root', 'bfifo', 'limit', '1'] : ['del', 'dev', device, 'root'];
  const { status, stderr } = spawnSync('tc', ['-n', namespace, 'qdisc', ...change], { encoding: 'utf8' });
  if (isOn && status !== 0) throw new Error(`tc: ${stderr.trim()}`);
}

let made = 0;

export function createNetwork(count: number, folder: string): Network {
  const id = `oc${process.pid.toString(36)}${(made++).toString(36)}`;
  const stores = `${id}s`;
  const namespaces: string[] = [];
  const servers: ChildProcess[] = [];
  const add = (namespace: string): void => {
    ip('netns', 'add', namespace);
    namespaces.push(namespace);
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
  };
  const removeAll = (): void => {
    // A cable goes with its namespace.
    for (const namespace of namespaces.splice(0)) spawnSync('ip', ['netns', 'delete', namespace]);
  };

  function connect(index: number): Machine {
    const name = `machine-${'abcdefgh'[index]}`;
    const namespace = `${id}${'abcdefgh'[index]}`;
    const here = `${id}m`;
    const there = `${id}${index}`;
    add(namespace);
    ip('link', 'add', here, 'netns', namespace, 'type', 'veth', 'peer', 'name', there, 'netns', stores);
    ip('-n', namespace, 'address', 'add', `10.78.${index}.2/24`, 'dev', here);
    ip('-n', stores, 'address', 'add', `10.78.${index}.1/24`, 'dev', there);
    ip('-n', namespace, 'link', 'set', here, 'address', `02:00:00:00:${index}0:02`, 'up');
    ip('-n', stores, 'link', 'set', there, 'address', `02:00:00:00:${index}0:01`, 'up');
    // Without questions who has which address: else a cut in one direction would soon be one in both.
    ip('-n', namespace, 'neigh', 'add', `10.78.${index}.1`, 'lladdr', `02:00:00:00:${index}0:01`, 'dev', here);
    ip('-n', stores, 'neigh', 'add', `10.78.${index}.2`, 'lladdr', `02:00:00:00:${index}0:02`, 'dev', there);
    ip('-n', namespace, 'route', 'add', 'default', 'via', `10.78.${index}.1`);
    const own = path.join(folder, name);
    mkdirSync(own, { recursive: true });
    const boot = path.join(own, 'boot_id');
    writeFileSync(boot, `${randomUUID()}\n`);
    // The shell becomes the program: its pid is the machine's.
    const script = 'hostname "$0" && mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"';
    return {
      name,
      folder: own,
      before: ['ip', 'netns', 'exec', namespace, 'unshare', '--uts', 'sh', '-c', script, name, boot],
      cut() {
        setDrop(namespace, here, true);
        setDrop(stores, there, true);
      },
      cutOutward: () => setDrop(namespace, here, true),
      cutInward: () => setDrop(stores, there, true),
      mend() {
        setDrop(namespace, here, false);
        setDrop(stores, there, false);
      },
    };
  }

  try {
    add(stores);
    // Any address of these nets is this one's.
    ip('-n', stores, 'route', 'add', 'local', `${WEB_NET}.0.0/16`, 'dev', 'lo');
    const machines = Array.from({ length: count }, (_, index) => connect(index));
    const beforeStores = ['ip', 'netns', 'exec', stores];
    const redis = (pod: number, ...command: readonly string[]): string => {
      const client = [...beforeStores.slice(1), 'redis-cli', '-h', STORES_ADDRESS, '-p', String(FIRST_PORT + pod)];
      return spawnSync('ip', [...client, ...command], { encoding: 'utf8' }).stdout.trim();
    };
    return {
      machines,
      beforeStores,
      redis,
      async startStores(pods, where) {
        const urls = Array.from({ length: pods }, (_, pod) => `redis://${STORES_ADDRESS}:${FIRST_PORT + pod}`);
        for (const [pod] of urls.entries()) {
          const dir = path.join(where, `redis-${pod}`);
          mkdirSync(dir, { recursive: true });
          const settings = ['--port', String(FIRST_PORT + pod), '--bind', STORES_ADDRESS, '--dir', dir, '--save', ''];
          const safe = ['--protected-mode', 'no', '--appendonly', 'yes', '--appendfsync', 'always'];
          const [command, ...rest] = [...beforeStores, 'redis-server', ...settings, ...safe] as [string, ...string[]];
          servers.push(spawn(command, [...rest, '--loglevel', 'warning'], { stdio: 'ignore' }));
        }
        for (const [pod] of urls.entries()) {
          for (let tries = 0; redis(pod, 'PING') !== 'PONG'; tries++) {
            if (tries > 200) throw new Error('redis-server does not answer');
            await delay(50);
          }
        }
        return urls;
      },
      async dispose() {
        for (const server of servers.splice(0)) {
          if (server.exitCode !== null || server.signalCode !== null) continue;
          const gone = once(server, 'exit');
          server.kill('SIGKILL');
          await gone;
        }
        removeAll();
      },
    };
  } catch (error) {
    removeAll();
    throw error;
  }
}

/** Why tests with several machines cannot run here; undefined when they can. */
export function networkMissing(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const name = `oc${process.pid.toString(36)}t`;
  try {
    ip('netns', 'add', name);
  } catch (error) {
    return `no network namespace can be made: ${(error as Error).message}`;
  }
  try {
    ip('link', 'add', `${name}a`, 'netns', name, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name);
    ip('-n', name, 'link', 'set', `${name}a`, 'up');
    setDrop(name, `${name}a`, true);
    const inside = ['netns', 'exec', name, 'unshare', '--uts', 'true'];
    if (spawnSync('ip', inside).status !== 0) return 'no program can be started in a namespace';
    return undefined;
  } catch (error) {
    return `no cable can be made or cut: ${(error as Error).message}`;
  } finally {
    spawnSync('ip', ['netns', 'delete', name]);
  }
}
