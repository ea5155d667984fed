// Checks politeness from visit logs: per domain the smallest gap between the end of a response and the start of the
// next request, compared with the required delay.
// Promise: one pass over the files of all processes; memory grows with domains, not lines.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { findVisitFiles, readVisitLine, type VisitFile, type VisitLine } from './visit-log.js';

export interface DomainAudit {
  readonly queue: string;
  readonly domain: string;
  readonly requests: number;
  readonly robotsRequests: number;
  /** The smallest time between the end of a response and the next request; none with one request. */
  readonly smallestGapMs?: number;
  /** The delay required there. */
  readonly requiredMs?: number;
  readonly violations: number;
}

export interface Violation {
  readonly queue: string;
  readonly domain: string;
  readonly gapMs: number;
  readonly requiredMs: number;
  /** Start of the early request, in ms on the boot's clock as in the log. */
  readonly startMs: number;
}

export interface VisitAudit {
  readonly files: number;
  readonly requests: number;
  /** Of these, sent by handlers (`sendRequest`): not paced and not checked. */
  readonly sentRequests: number;
  /** Those with violations first, then those with most requests. */
  readonly domains: readonly DomainAudit[];
  /** The first hundred. */
  readonly violations: readonly Violation[];
  readonly violationCount: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Decisions about URLs and robots.txt, by reason. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Not covered by the audit: files deleted by rotation, lines not written or unreadable. */
  readonly missingFiles: number;
  readonly missingLines: number;
}

interface DomainState {
  readonly queue: string;
  readonly domain: string;
  requests: number;
  robotsRequests: number;
  lastEndMs: number;
  lastRestMs: number;
  /** No request may start before this. */
  dueMs: number;
  smallestGapMs: number;
  requiredMs: number;
  violations: number;
}

const MAX_VIOLATIONS_LISTED = 100;
/** The log has whole microseconds. */
const ROUNDING_MS = 0.002;

/** Audits the visit logs under a folder. */
export async function auditVisits(folder: string): Promise<VisitAudit> {
  const { visits, decisions } = await findVisitFiles(folder);
  const domains = new Map<string, DomainState>();
  const statuses: Record<string, number> = {};
  const violations: Violation[] = [];
  let violationCount = 0;
  let requests = 0;
  let sentRequests = 0;
  let missingLines = 0;
  let missingFiles = 0;
  for (const group of groupFiles(visits)) {
    missingFiles += group[0]!.number - 1;
  }

  function check(queue: string, boot: string, line: VisitLine): void {
    const key = `${queue}\n${boot}\n${line.domain}`;
    let state = domains.get(key);
    if (!state) domains.set(key, (state = freshState(queue, line.domain)));
    requests++;
    state.requests++;
    if (line.kind === 'robots') state.robotsRequests++;
    statuses[line.status] = (statuses[line.status] ?? 0) + 1;
    if (line.kind === 'sent') {
      sentRequests++;
      return;
    }
    const gapMs = line.startMs - state.lastEndMs;
    if (gapMs < state.smallestGapMs) {
      state.smallestGapMs = gapMs;
      state.requiredMs = state.lastRestMs;
    }
    // A request that shared its domain's turns started before the delay was due.
    if (line.alone && line.startMs < state.dueMs - ROUNDING_MS) {
      state.violations++;
      violationCount++;
      const requiredMs = state.dueMs - state.lastEndMs;
      if (violations.length < MAX_VIOLATIONS_LISTED) {
        violations.push({ queue, domain: line.domain, gapMs, requiredMs, startMs: line.startMs });
      }
    }
    if (line.endMs >= state.lastEndMs) {
      state.lastEndMs = line.endMs;
      state.lastRestMs = line.restMs;
    }
    state.dueMs = Math.max(state.dueMs, line.endMs + line.restMs);
  }

  for (const [queue, writers] of byQueue(groupFiles(visits))) {
    const sources = await Promise.all(writers.map((files) => openSource(files)));
    // Ordered by end of response: each file is written in that order.
    for (;;) {
      let next: Source | undefined;
      for (const source of sources) {
        if (source.line && (!next || isBefore(source, next))) next = source;
      }
      if (!next) break;
      check(queue, next.boot, next.line!);
      await next.advance();
    }
    for (const source of sources) missingLines += source.missing;
  }
  return {
    files: visits.length,
    requests,
    sentRequests,
    domains: [...domains.values()].map(resultOf).sort(worstFirst),
    violations,
    violationCount,
    statuses,
    decisions: await sumDecisions(decisions),
    missingFiles,
    missingLines,
  };
}

/** One writer's files, read as one. */
interface Source {
  readonly line: VisitLine | undefined;
  readonly boot: string;
  readonly missing: number;
  advance(): Promise<void>;
}

async function openSource(files: readonly VisitFile[]): Promise<Source> {
  let missing = 0;
  let boot = '';
  let line: VisitLine | undefined;
  async function* read(): AsyncGenerator<VisitLine> {
    for (const { path } of files) {
      for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
        const dropped = /^# dropped (\d+)/.exec(text)?.[1];
        if (dropped !== undefined) missing += Number(dropped);
        boot = /^# orcrawl visits \d+\tboot (\S+)/.exec(text)?.[1] ?? boot;
        const found = readVisitLine(text);
        if (found) yield found;
        else if (!text.startsWith('#')) missing++;
      }
    }
  }
  const lines = read();
  const source = {
    get line() {
      return line;
    },
    get boot() {
      return boot;
    },
    get missing() {
      return missing;
    },
    async advance() {
      line = ((await lines.next()) as { value: VisitLine | undefined }).value;
    },
  };
  await source.advance();
  return source;
}

function isBefore(a: Source, b: Source): boolean {
  return a.boot === b.boot ? a.line!.endMs < b.line!.endMs : a.boot < b.boot;
}

/** The files of each writer, in order. */
function groupFiles(files: readonly VisitFile[]): VisitFile[][] {
  const groups = new Map<string, VisitFile[]>();
  for (const file of files) {
    const key = `${file.queue}\n${file.writer}`;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].map((group) => group.sort((a, b) => a.number - b.number));
}

function byQueue(groups: readonly VisitFile[][]): Map<string, VisitFile[][]> {
  const queues = new Map<string, VisitFile[][]>();
  for (const group of groups) {
    const { queue } = group[0]!;
    queues.set(queue, [...(queues.get(queue) ?? []), group]);
  }
  return queues;
}

function freshState(queue: string, domain: string): DomainState {
  return {
    queue,
    domain,
    requests: 0,
    robotsRequests: 0,
    lastEndMs: -Infinity,
    lastRestMs: 0,
    dueMs: -Infinity,
    smallestGapMs: Infinity,
    requiredMs: 0,
    violations: 0,
  };
}

function resultOf({ queue, domain, requests, robotsRequests, smallestGapMs, requiredMs, violations }: DomainState) {
  const gap = Number.isFinite(smallestGapMs) ? { smallestGapMs: round(smallestGapMs), requiredMs } : {};
  return { queue, domain, requests, robotsRequests, ...gap, violations };
}

function worstFirst(a: DomainAudit, b: DomainAudit): number {
  return b.violations - a.violations || b.requests - a.requests || (a.domain < b.domain ? -1 : 1);
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

async function sumDecisions(files: readonly string[]): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const file of files) {
    try {
      const counts = JSON.parse(await readFile(file, 'utf8')) as Record<string, number>;
      for (const [decision, count] of Object.entries(counts)) sum[decision] = (sum[decision] ?? 0) + Number(count);
    } catch {
      // Half written by a dead process: its lines are still valid.
    }
  }
  return sum;
}
