// Reads a V8 CPU profile and shares out its self time by stage of the crawl. What runs inside Node or V8 belongs to the
// stage that called it, except for what has a name of its own: inflating, sockets, TLS, garbage collection.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  children?: number[];
}

interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

export interface Share {
  readonly name: string;
  readonly ms: number;
}

export interface Profile {
  /** Main-thread time that was spent working. */
  readonly busyMs: number;
  readonly stages: readonly Share[];
  readonly files: readonly Share[];
  readonly functions: readonly Share[];
}

const OF_NODE: readonly (readonly [RegExp, string])[] = [
  [/^node:zlib/, 'inflate'],
  [/^node:(internal\/tls|_?tls)/, 'TLS'],
  [/^node:(net|internal\/(net|stream_base_commons|streams)|stream|dgram)/, 'sockets and streams'],
  [/^node:(fs|internal\/fs)/, 'files'],
  [/^node:internal\/modules/, 'loading modules'],
];

const maps = new Map<string, SourceMap | undefined>();

function mapOf(url: string): SourceMap | undefined {
  const file = `${fileURLToPath(url)}.map`;
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload) : undefined;
}

/** The source file a place in a chunk comes from, by the chunk's source map; else the chunk itself. */
function sourceOf({ url, lineNumber, columnNumber }: ProfileNode['callFrame']): string {
  if (!url.startsWith('file:') || !url.includes('/dist/') || url.includes('/node_modules/')) return url;
  if (!maps.has(url)) maps.set(url, mapOf(url));
  const entry = maps.get(url)?.findEntry(lineNumber, columnNumber);
  const source = entry && 'originalSource' in entry ? /src\/.+$/.exec(entry.originalSource)?.[0] : undefined;
  return source === undefined ? url : `/${source}`;
}

/** The stage a frame names by itself, or undefined: then it is its caller's. */
function ownStage({ functionName, url }: ProfileNode['callFrame']): string | undefined {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return '(program: V8, libuv, system calls)';
  if (functionName === '(idle)') return 'idle';
  const ours = /\/src\/(.+)\.ts$/.exec(url)?.[1];
  if (ours !== undefined && !url.includes('/node_modules/')) {
    const folder = ours.includes('/') ? ours.slice(0, ours.indexOf('/')) : 'options, errors';
    return folder;
  }
  const packaged = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packaged !== undefined) return packaged === 'lmdb' ? 'frontier (lmdb)' : packaged;
  for (const [pattern, stage] of OF_NODE) if (pattern.test(url)) return stage;
  if (/\/bench\//.test(url)) return 'handler';
  return undefined;
}

function fileOf({ functionName, url }: ProfileNode['callFrame']): string {
  if (url === '') return functionName === '' ? '(native)' : functionName;
  return url.replace(/^file:\/\//, '').replace(/^.*\/(?=(?:src|node_modules|bench\/crawl)\/)/, '');
}

function sorted(times: ReadonlyMap<string, number>): Share[] {
  return [...times].map(([name, ms]) => ({ name, ms })).sort((a, b) => b.ms - a.ms);
}

export function readProfile(file: string): Profile {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  for (const { callFrame } of nodes) callFrame.url = sourceOf(callFrame);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stageOf = new Map<number, string>();
  const label = (node: ProfileNode, inherited: string): void => {
    const stage = ownStage(node.callFrame) ?? inherited;
    stageOf.set(node.id, stage);
    for (const child of node.children ?? []) label(byId.get(child)!, stage);
  };
  label(nodes[0]!, 'Node');

  const [stages, files, functions] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const add = (map: Map<string, number>, name: string, ms: number): void =>
    void map.set(name, (map.get(name) ?? 0) + ms);
  let busyMs = 0;
  for (let i = 0; i < samples.length; i++) {
    const node = byId.get(samples[i]!)!;
    const stage = stageOf.get(node.id)!;
    if (stage === 'idle') continue;
    // A delta is the time since the sample before it.
    const ms = (timeDeltas[i + 1] ?? 0) / 1000;
    busyMs += ms;
    add(stages, stage, ms);
    const where = fileOf(node.callFrame);
    add(files, where, ms);
    add(functions, `${node.callFrame.functionName || '(anonymous)'} ${where}`, ms);
  }
  return { busyMs, stages: sorted(stages), files: sorted(files), functions: sorted(functions) };
}
