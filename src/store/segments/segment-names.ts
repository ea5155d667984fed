// The file names of segments, and the owner of a direct one.
// Promise: names sort by age, never repeat, and show whether their writer may still be alive.
import { randomBytes, createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { threadId } from 'node:worker_threads';
import { startOf } from '../../base/alive.js';
import { fileNamePart } from '../names.js';

const DIRECT = /^(\d{6,}-direct-[a-z0-9]+)(?:\.([a-z0-9]+-\d+-\d+-\d+))?\.jsonl$/;
const VISIT = /^\d{6,}-visit-[a-zA-Z0-9_-]+\.jsonl$/;
const LEADING_NUMBER = /^(\d{6,})-/;

export interface DirectName {
  /** Stays the same through owners. */
  readonly stem: string;
  readonly owner: string | undefined;
}

export function isSegmentName(file: string): boolean {
  return file.endsWith('.jsonl') && LEADING_NUMBER.test(file);
}

export function isVisitName(file: string): boolean {
  return VISIT.test(file);
}

export function parseDirectName(file: string): DirectName | undefined {
  const match = DIRECT.exec(file);
  return match?.[1] === undefined ? undefined : { stem: match[1], owner: match[2] };
}

export function directFile(stem: string, owner?: string): string {
  return owner === undefined ? `${stem}.jsonl` : `${stem}.${owner}.jsonl`;
}

export function newDirectStem(existing: readonly string[]): string {
  return `${nextNumber(existing)}-direct-${uniquePart()}`;
}

export function newVisitName(existing: readonly string[], writerId: string): string {
  return `${newSegmentStem(existing, 'visit', writerId)}.jsonl`;
}

/** A name that was never used, without its extension. */
export function newSegmentStem(existing: readonly string[], kind: string, writerId: string): string {
  return `${nextNumber(existing)}-${kind}-${fileNamePart(writerId)}-${uniquePart()}`;
}

function nextNumber(existing: readonly string[]): string {
  const numbers = existing.map((file) => Number(LEADING_NUMBER.exec(file)?.[1] ?? 0));
  return String(numbers.reduce((max, number) => Math.max(max, number), 0) + 1).padStart(6, '0');
}

// Two processes may choose the same number; this part (48 bits) makes the name unique.
function uniquePart(): string {
  return randomBytes(6).toString('hex');
}

let self: string | undefined;

/** Machine, process, start time and thread, as a part of a file name. */
export function ownerName(): string {
  self ??= `${hostPart()}-${process.pid}-${startOf(process.pid) ?? 0}-${threadId}`;
  return self;
}

/**
 * Whether an owner is certainly gone: it writes nothing more, also before its parent has heard of its end. False if in
 * doubt (another machine, a pid that may have been reused, a system without start times): then its segment is left alone.
 */
export function isOwnerGone(owner: string): boolean {
  const [host, pidText, startText] = owner.split('-');
  if (host !== hostPart()) return false;
  const pid = Number(pidText);
  if (!isRunning(pid)) return true;
  const start = startOf(pid);
  return start !== undefined && startText !== '0' && start !== startText;
}

/** Whether an owner certainly runs on this machine. */
export function isOwnerHere(owner: string): boolean {
  const [host, pidText, startText] = owner.split('-');
  if (host !== hostPart() || !isRunning(Number(pidText))) return false;
  return (startOf(Number(pidText)) ?? '0') === startText;
}

function hostPart(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const VISIT_WRITER = /-visit-(.+)-[0-9a-f]{12}\.jsonl$/;

/** Whether the writer of a visit segment is certainly gone; the name may be a note's key that ends in it. */
export function isVisitWriterGone(name: string): boolean {
  const writer = VISIT_WRITER.exec(name)?.[1];
  return writer !== undefined && isOwnerGone(writer);
}

/** Whether another process or an earlier start wrote a visit segment; the name may be a note's key that ends in it. */
export function isForeignWriter(name: string): boolean {
  const writer = VISIT_WRITER.exec(name)?.[1];
  return writer !== undefined && writer !== fileNamePart(ownerName());
}
