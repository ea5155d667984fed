// Walks the trees of an LMDB file before lmdb-js maps it: lmdb-js ends the whole process on a page that is damaged.
// Guarantee: of a file without a problem every page that a read can reach lies within the file and is well formed.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** How much is looked at: `branches` leaves out the leaves, of which there are a hundred times more. */
export type LmdbWalk = 'all' | 'branches';

const HEADER_BYTES = 24;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const UPPER_AT = 22;
const NODE_BYTES = 8;
/** Of the record of a tree: its root, and where it is in a meta page. */
const TREE_BYTES = 48;
const ROOT_AT = 40;
const DEPTH_AT = 6;
const FREE_TREE_AT = HEADER_BYTES + 24;
const MAIN_TREE_AT = FREE_TREE_AT + TREE_BYTES;
const TRANSACTION_AT = MAIN_TREE_AT + TREE_BYTES + 8;
const META_BYTES = TRANSACTION_AT + 8;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const IN_OWN_PAGES = 1;
const IS_TREE = 2;
const APART_BYTES = 24;
const MAIN_TREE = 1;
const MAX_DEPTH = 32;
/** Others may write meanwhile: what is found then says nothing, and is looked at again. */
const TRIES = 5;

/** What is wrong with a file whose meta pages are right, or undefined. */
export function lmdbProblem(file: string, pageBytes: number, walk: LmdbWalk): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    for (let tries = 1; ; tries++) {
      const { transaction, trees } = newestMeta(descriptor, pageBytes);
      const problem = problemOf(descriptor, pageBytes, trees, walk);
      if (problem === undefined) return undefined;
      // Somebody who writes to it at this moment can read it.
      const isBeingWritten = newestMeta(descriptor, pageBytes).transaction !== transaction;
      if (!isBeingWritten) return problem;
      if (tries === TRIES) return undefined;
    }
  } finally {
    closeSync(descriptor);
  }
}

interface Tree {
  readonly root: bigint;
  readonly depth: number;
}

function newestMeta(descriptor: number, pageBytes: number): { transaction: bigint; trees: Tree[] } {
  const metas = [0, pageBytes].map((at) => {
    const bytes = Buffer.alloc(META_BYTES);
    readSync(descriptor, bytes, 0, META_BYTES, at);
    return bytes;
  });
  const [first, second] = metas as [Buffer, Buffer];
  const newest = second.readBigUInt64LE(TRANSACTION_AT) > first.readBigUInt64LE(TRANSACTION_AT) ? second : first;
  const trees = [FREE_TREE_AT, MAIN_TREE_AT].map((at) => treeAt(newest, at));
  return { transaction: newest.readBigUInt64LE(TRANSACTION_AT), trees };
}

function treeAt(bytes: Buffer, at: number): Tree {
  return { root: bytes.readBigUInt64LE(at + ROOT_AT), depth: bytes.readUInt16LE(at + DEPTH_AT) };
}

/** A page that is still to be read: how many levels of its tree are left, and whether that tree names tables. */
interface OpenPage {
  readonly page: number;
  readonly levels: number;
  readonly namesTables: boolean;
}

function problemOf(descriptor: number, pageBytes: number, trees: readonly Tree[], walk: LmdbWalk): string | undefined {
  const pages = Math.floor(fstatSync(descriptor).size / pageBytes);
  /** Each page belongs to one place: a second visit is damage, and might never end. */
  const seen = new Uint8Array(Math.ceil(pages / 8));
  const open: OpenPage[] = [];
  const bytes = Buffer.alloc(pageBytes);

  const take = (page: bigint, count = 1n): void => {
    if (page < 2n || count < 1n || page + count > BigInt(pages)) throw new Damage(`page ${page} is missing`);
    const [at, bit] = [Number(page >> 3n), 1 << Number(page & 7n)];
    if ((seen[at]! & bit) !== 0) throw new Damage(`page ${page} belongs to two places`);
    seen[at]! |= bit;
  };

  const enter = ({ root, depth }: Tree, namesTables: boolean): void => {
    if (root === NO_PAGE) return;
    if (depth < 1 || depth > MAX_DEPTH) throw new Damage(`a tree has the depth ${depth}`);
    take(root);
    open.push({ page: Number(root), levels: depth, namesTables });
  };

  const readPage = (page: number, into: Buffer): void => {
    if (readSync(descriptor, into, 0, into.length, page * pageBytes) < into.length) {
      throw new Damage(`page ${page} is missing`);
    }
    if (into.readBigUInt64LE(0) !== BigInt(page)) throw new Damage(`page ${page} has another number`);
  };

  const readValue = (page: number, at: number): void => {
    const data = at + NODE_BYTES + bytes.readUInt16LE(at + 6);
    const dataBytes = bytes.readUInt32LE(at);
    const flags = bytes.readUInt16LE(at + 4);
    const isApart = (flags & IN_OWN_PAGES) !== 0;
    const isTree = (flags & IS_TREE) !== 0;
    if (data + (isApart ? APART_BYTES : dataBytes) > pageBytes || (isTree && dataBytes !== TREE_BYTES)) {
      throw new Damage(`page ${page} has a value that does not fit`);
    }
    if (isApart) {
      const [first, count] = [bytes.readBigUInt64LE(data), bytes.readBigUInt64LE(data + 16)];
      if (BigInt(dataBytes + HEADER_BYTES) > count * BigInt(pageBytes)) {
        throw new Damage(`page ${page} has a value that does not fit`);
      }
      take(first, count);
      const head = Buffer.alloc(HEADER_BYTES);
      readPage(Number(first), head);
      if ((head.readUInt16LE(FLAGS_AT) & OVERFLOW) === 0) throw new Damage(`page ${first} is of another kind`);
    } else if (isTree) enter(treeAt(bytes, data), false);
  };

  try {
    for (const [index, tree] of trees.entries()) enter(tree, index === MAIN_TREE);
    for (let next = open.pop(); next; next = open.pop()) {
      const { page, levels, namesTables } = next;
      if (walk === 'branches' && levels === 1 && !namesTables) continue;
      readPage(page, bytes);
      for (const at of nodesOf(bytes, page, levels > 1 ? BRANCH : LEAF)) {
        if (levels === 1) readValue(page, at);
        else {
          const child = BigInt(bytes.readUInt32LE(at)) + (BigInt(bytes.readUInt16LE(at + 4)) << 32n);
          take(child);
          open.push({ page: Number(child), levels: levels - 1, namesTables });
        }
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  }
}

/** Where the nodes of a page begin. */
function nodesOf(bytes: Buffer, page: number, kind: typeof BRANCH | typeof LEAF): number[] {
  const flags = bytes.readUInt16LE(FLAGS_AT);
  const [lower, upper] = [bytes.readUInt16LE(LOWER_AT), bytes.readUInt16LE(UPPER_AT)];
  if ((flags & (BRANCH | LEAF | OVERFLOW)) !== kind) throw new Damage(`page ${page} is of another kind`);
  if (lower > upper || upper + HEADER_BYTES > bytes.length || lower % 2 !== 0 || lower === 0) {
    throw new Damage(`page ${page} has wrong bounds`);
  }
  const nodes: number[] = [];
  for (let pointer = HEADER_BYTES; pointer < HEADER_BYTES + lower; pointer += 2) {
    const at = bytes.readUInt16LE(pointer) + HEADER_BYTES;
    const isInside = at >= upper + HEADER_BYTES && at + NODE_BYTES <= bytes.length;
    if (!isInside || at + NODE_BYTES + bytes.readUInt16LE(at + 6) > bytes.length) {
      throw new Damage(`page ${page} has wrong bounds`);
    }
    nodes.push(at);
  }
  return nodes;
}

class Damage extends Error {}
