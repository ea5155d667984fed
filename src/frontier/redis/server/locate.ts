// Finds the master that has the data: of a slot in a cluster, or of a name that Sentinels watch.
// Promise: of contradicting answers the newest election counts, so a node that was cut off is not believed.
import { type RedisAddress, type RedisNode, parseNode, REDIS_PORT } from './address.js';

export interface LocatorOptions {
  readonly slot: number;
  readonly timeoutMs: number;
  readonly ask: (node: RedisNode, command: readonly [string, ...string[]]) => Promise<unknown>;
}

/** A master, and the number of the election that made it one. */
interface Claim extends RedisNode {
  readonly epoch: number;
}

/** Asked at once: enough for a majority of any usual cluster. */
const ASKED_AT_ONCE = 9;
/** After the first answer, others may know of a newer election. */
const LATER_ANSWERS_MS = 250;

export function createLocator(address: RedisAddress, options: LocatorOptions): () => Promise<RedisNode> {
  /** Those of the address first: others may have left. */
  let known: readonly RedisNode[] = address.nodes;
  return async () => {
    const claims: Claim[] = [];
    let reason: Error | undefined;
    const asked = choose(address.nodes, known).map(async (node) => {
      try {
        const found =
          address.kind === 'cluster'
            ? await askCluster(node, options)
            : await askSentinel(node, address.master!, options);
        known = merged(address.nodes, found.nodes);
        if (found.claim) claims.push(found.claim);
        else reason ??= new Error(found.reason);
      } catch (error) {
        reason ??= error as Error;
      }
    });
    await answered(asked, () => claims.length > 0, options.timeoutMs * 2);
    const newest = claims.reduce<Claim | undefined>(
      (best, one) => (best && best.epoch >= one.epoch ? best : one),
      undefined,
    );
    if (newest) return newest;
    throw new Error(`no master was found at ${address.where}: ${reason?.message ?? 'no answer in time'}`);
  };
}

function choose(given: readonly RedisNode[], known: readonly RedisNode[]): readonly RedisNode[] {
  const others = known.slice(given.length);
  // Other ones each time, in case the first do not answer.
  const turn = others.length === 0 ? 0 : Math.floor(Math.random() * others.length);
  return [...given.slice(0, ASKED_AT_ONCE), ...others.slice(turn), ...others.slice(0, turn)].slice(0, ASKED_AT_ONCE);
}

function merged(given: readonly RedisNode[], found: readonly RedisNode[]): readonly RedisNode[] {
  const all = new Map([...given, ...found].map((node) => [`${node.host} ${node.port}`, node]));
  return [...all.values()];
}

/** Until all have answered, or a little after the first good answer, or the time is over. */
async function answered(asked: readonly Promise<void>[], isGood: () => boolean, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
    let left = asked.length;
    for (const one of asked) {
      void one.then(() => {
        if (--left === 0) resolve();
        else if (isGood()) {
          clearTimeout(timer);
          timer = setTimeout(resolve, LATER_ANSWERS_MS);
        }
      });
    }
  });
  clearTimeout(timer);
}

interface Found {
  readonly nodes: readonly RedisNode[];
  readonly claim?: Claim;
  readonly reason?: string;
}

/** Lines of `CLUSTER NODES`: id, host:port@bus[,name], flags, master, ping, pong, epoch, link, slots… */
async function askCluster(asked: RedisNode, { ask, slot }: LocatorOptions): Promise<Found> {
  const lines = String(await ask(asked, ['CLUSTER', 'NODES'])).split('\n');
  const nodes: RedisNode[] = [];
  let claim: Claim | undefined;
  for (const line of lines) {
    const [, place = '', flags = '', , , , epoch = '', , ...slots] = line.trim().split(' ');
    const node = placeOf(place, asked);
    if (node === undefined || /noaddr|handshake/.test(flags)) continue;
    nodes.push(node);
    if (/\bmaster\b/.test(flags) && slots.some((range) => includes(range, slot))) {
      claim = { ...node, epoch: Number(epoch) };
    }
  }
  return { nodes, ...(claim ? { claim } : { reason: `slot ${slot} has no master` }) };
}

/** `10.0.0.1:7000@17000,name`; without a host, it is the node that was asked. */
function placeOf(text: string, asked: RedisNode): RedisNode | undefined {
  const [address = '', name = ''] = text.split(',');
  const plain = address.replace(/@\d+$/, '');
  const colon = plain.lastIndexOf(':');
  const port = Number(plain.slice(colon + 1));
  if (colon < 0 || !(port > 0)) return undefined;
  return { host: plain.slice(0, colon) || name || asked.host, port };
}

/** `5` or `0-5460`; `[5->-id]` and `[5-<-id]` are moves that are not over. */
function includes(range: string, slot: number): boolean {
  const match = /^(\d+)(?:-(\d+))?$/.exec(range);
  return match !== null && slot >= Number(match[1]) && slot <= Number(match[2] ?? match[1]);
}

async function askSentinel(asked: RedisNode, name: string, { ask }: LocatorOptions): Promise<Found> {
  const flat = (await ask(asked, ['SENTINEL', 'MASTER', name])) as readonly string[];
  const facts = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) facts.set(String(flat[i]), String(flat[i + 1]));
  const node = parseNode(bracketed(facts.get('ip') ?? '', facts.get('port') ?? ''), REDIS_PORT);
  if (node === undefined) return { nodes: [], reason: 'the Sentinel knows no address of it' };
  return { nodes: [], claim: { ...node, epoch: Number(facts.get('config-epoch') ?? 0) } };
}

const bracketed = (host: string, port: string): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
