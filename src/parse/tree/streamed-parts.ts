// Puts the parts that React sends after a page where its script would put them.
// Promise: bytes in, bytes out; a page without such parts is returned as it is, each part is placed once, time is linear.
import { limitReached, LIMITS } from '../../limits.js';

const OPENING = Buffer.from('<div hidden id="S:');
const HOLE = Buffer.from('<template id="');
const CALL = Buffer.from('$R');
const COMMENT = Buffer.from('<!--');
/** Begins a boundary whose part is yet to come; its hole follows. */
const PENDING = Buffer.from('<!--$?-->');
const DIV = Buffer.from('div');
/** Pages have dozens; more is not a real page. */
const MAX_PARTS = LIMITS.streamedParts.max;
const MAX_DEPTH = 100;

interface Part {
  /** Of the element, and of what is in it. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/** The page with its streamed parts in place. */
export function placeStreamedParts(bytes: Buffer): Buffer {
  const first = bytes.indexOf(OPENING);
  if (first < 0) return bytes;
  const parts = findParts(bytes, first);
  const targets = findTargets(bytes, first, parts);
  const boundaries = findBoundaries(bytes);
  const skipped = new Map<number, number>();
  for (const { start, end } of targets.values()) skipped.set(start, end);
  const pieces: Buffer[] = [];
  const place = (from: number, to: number, depth: number): void => {
    let done = from;
    for (let at = from; at < to;) {
      const next = bytes.indexOf(0x3c, at);
      if (next < 0 || next >= to) break;
      at = next + 1;
      const end = skipped.get(next);
      if (end !== undefined && end <= to) {
        pieces.push(bytes.subarray(done, next));
        done = at = end;
      } else if (depth < MAX_DEPTH && startsWith(bytes, HOLE, next)) {
        const hole = holeAt(bytes, next);
        const part = hole === null ? undefined : targets.get(hole.id);
        // A part within which its own hole stands is never shown.
        if (hole === null || part === undefined || (part.start <= next && next < part.end)) continue;
        targets.delete(hole.id);
        pieces.push(bytes.subarray(done, next));
        place(part.from, part.to, depth + 1);
        done = at = Math.min(to, boundaries.get(next - PENDING.length) ?? hole.end);
      }
    }
    pieces.push(bytes.subarray(done, to));
  };
  place(0, bytes.length, 0);
  // Their holes were never reached: nothing is lost, they come last.
  for (const { start, end } of targets.values()) pieces.push(bytes.subarray(start, end));
  return Buffer.concat(pieces);
}

/** The parts by their keys. */
function findParts(bytes: Buffer, first: number): Map<string, Part> {
  const parts = new Map<string, Part>();
  for (let start = first; start >= 0 && parts.size < MAX_PARTS;) {
    const keyEnd = bytes.indexOf(0x22, start + OPENING.length);
    const from = keyEnd + 2;
    if (keyEnd < 0 || keyEnd - start > 40 || bytes[keyEnd + 1] !== 0x3e) {
      start = bytes.indexOf(OPENING, start + 1);
      continue;
    }
    const to = closingDiv(bytes, from);
    const end = to < 0 ? -1 : bytes.indexOf(0x3e, to) + 1;
    if (end <= 0) break;
    parts.set(bytes.toString('latin1', start + OPENING.length, keyEnd), { start, from, to, end });
    start = bytes.indexOf(OPENING, end);
  }
  if (parts.size >= MAX_PARTS) limitReached('streamedParts');
  return parts;
}

/** Where each part belongs, by the calls of React's script; by its own key where the script is not there. */
function findTargets(bytes: Buffer, first: number, parts: Map<string, Part>): Map<string, Part> {
  const targets = new Map<string, Part>();
  const placed = new Set<string>();
  const put = (id: string, key: string): void => {
    const part = parts.get(key);
    if (part === undefined || placed.has(key) || targets.has(id)) return;
    placed.add(key);
    targets.set(id, part);
  };
  for (let at = bytes.indexOf(CALL, first), calls = 0; at >= 0 && calls < MAX_PARTS; at = bytes.indexOf(CALL, at + 2)) {
    if (bytes[at + 3] !== 0x28) continue;
    calls++;
    const call = bytes.toString('latin1', at, at + 60);
    const [, boundary, part] = /^\$R[CR]\("(B:\w+)","S:(\w+)"/.exec(call) ?? [];
    if (boundary !== undefined) put(boundary, part!);
    const [, segment, hole] = /^\$RS\("S:(\w+)","(P:\w+)"/.exec(call) ?? [];
    if (segment !== undefined) put(hole!, segment);
  }
  for (const key of parts.keys()) if (!placed.has(key)) put(`B:${key}`, key);
  // What has no hole stays where it is.
  const holes = new Set<string>();
  for (let at = bytes.indexOf(HOLE); at >= 0; at = bytes.indexOf(HOLE, at + 1)) {
    const hole = holeAt(bytes, at);
    if (hole !== null) holes.add(hole.id);
  }
  for (const id of targets.keys()) if (!holes.has(id)) targets.delete(id);
  return targets;
}

/** The `<template id="B:0"></template>` at this place. */
function holeAt(bytes: Buffer, at: number): { id: string; end: number } | null {
  const match = /^<template id="([BP]:\w+)"><\/template>/.exec(bytes.toString('latin1', at, at + 80));
  return match === null ? null : { id: match[1]!, end: at + match[0].length };
}

/** Where the `</div>` of an element that began before `from` stands, or -1. */
function closingDiv(bytes: Buffer, from: number): number {
  let open = 1;
  for (let at = bytes.indexOf(DIV, from); at >= 0; at = bytes.indexOf(DIV, at + 3)) {
    const after = bytes[at + 3]!;
    if (after !== 0x3e && after > 0x20 && after !== 0x2f) continue;
    if (bytes[at - 1] === 0x3c) open++;
    else if (bytes[at - 1] === 0x2f && bytes[at - 2] === 0x3c && --open === 0) return at - 2;
  }
  return -1;
}

/** Boundaries by where they begin: the place of the `<!--/$-->` after what stands in for their part. */
function findBoundaries(bytes: Buffer): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = bytes.indexOf(COMMENT); at >= 0; at = bytes.indexOf(COMMENT, at + 4)) {
    if (bytes[at + 4] === 0x24) open.push(at);
    else if (bytes[at + 4] === 0x2f && bytes[at + 5] === 0x24 && open.length > 0) {
      const start = open.pop()!;
      // Of the others nothing is asked: a page may hold a million.
      if (startsWith(bytes, HOLE, start + PENDING.length)) ends.set(start, at);
    }
  }
  return ends;
}

function startsWith(bytes: Buffer, start: Buffer, at: number): boolean {
  return bytes.compare(start, 0, start.length, at, Math.min(bytes.length, at + start.length)) === 0;
}
