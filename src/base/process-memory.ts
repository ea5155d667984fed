// Memory of processes, as the kernel counts it: of one, or of all that it started. Linux only; elsewhere nothing is known.
import { readdirSync, readFileSync } from 'node:fs';

/** A file's text; undefined if it cannot be read. */
export type ReadText = (path: string) => string | undefined;

export const readTextFile: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Resident memory without file pages: the queue on disk is memory-mapped, and its pages count as resident although the
 * system can drop them.
 */
export function processBytes(status: string | undefined): number | undefined {
  const anonymous = /^RssAnon:\s*(\d+) kB/m.exec(status ?? '');
  if (!anonymous) return undefined;
  const shared = /^RssShmem:\s*(\d+) kB/m.exec(status!);
  return (Number(anonymous[1]) + Number(shared?.[1] ?? 0)) * 1024;
}

// A fork bomb below us must not make sampling expensive.
const MAX_CHILDREN = 1_000;

/** The memory of everything that a process started, without its own. */
export function descendantsBytes(root: number, readText: ReadText): number {
  const waiting = [String(root)];
  let bytes = 0;
  for (let visited = 0; visited < waiting.length && visited < MAX_CHILDREN; visited++) {
    const pid = waiting[visited]!;
    if (visited > 0) bytes += processBytes(readText(`/proc/${pid}/status`)) ?? 0;
    for (const thread of threadsOf(pid)) {
      const children = readText(`/proc/${pid}/task/${thread}/children`) ?? '';
      for (const child of children.split(' ')) if (/^\d+$/.test(child)) waiting.push(child);
    }
  }
  return bytes;
}

/** The memory of a process and of everything that it started. */
export function treeBytes(root: number, readText: ReadText): number {
  return (processBytes(readText(`/proc/${root}/status`)) ?? 0) + descendantsBytes(root, readText);
}

function threadsOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
