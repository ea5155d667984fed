// Decides whether a reader grows in proportion: CPU time over n, 2n and 4n, and the size of what it gives.
// A verdict of "too slow" needs a second look with more input, so that a busy machine decides nothing.
import { CrawlError } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import type { HostileText } from './texts.js';

/** Reads what a stranger wrote. What it returns is weighed; what it throws is a refusal and fine. */
export interface Reader {
  /** The function under test, as `file#name`. */
  readonly name: string;
  /** Which inputs it is given. */
  readonly of: InputKind;
  readonly read: (text: string) => unknown;
  /** Makes of the text what is read instead, where that takes long. Its time does not count. */
  readonly prepare?: (text: string) => unknown;
  /** Characters of output per character of input, above a constant. Default 40. */
  readonly factor?: number;
}

export type InputKind = 'page' | 'url' | 'header' | 'robots' | 'sitemap' | 'text' | 'json';

export interface Sizes {
  /** The smallest input. */
  readonly characters: number;
  /** CPU time below this is not judged. */
  readonly floorMs: number;
  /** Whoever seems slow reads the longest input of its kind, too: some seconds each. Default false. */
  readonly longest?: boolean;
}

export interface Failure {
  readonly reader: string;
  readonly input: string;
  readonly why: string;
}

export interface Verdict {
  readonly failure?: Failure;
  /** Of the largest input. */
  readonly cpuMs: number;
  readonly characters: number;
}

/** Twice the input may take so many times the time. */
const MAX_GROWTH = 2.5;
/**
 * Linear is not enough: the longest input of a kind that the limits let through is read by one reader in this time, on a
 * quiet core of 2.5 GHz. No page may take 10 s of CPU, and several readers look at one.
 */
export const LONGEST: Readonly<Record<InputKind, { readonly characters: number; readonly ms: number }>> = {
  page: { characters: LIMITS.bodyBytes.max, ms: 6_000 },
  text: { characters: LIMITS.bodyBytes.max, ms: 6_000 },
  json: { characters: LIMITS.bodyBytes.max, ms: 6_000 },
  sitemap: { characters: LIMITS.bodyBytes.max, ms: 6_000 },
  robots: { characters: LIMITS.robotsBytes.max, ms: 1_000 },
  // A page may have 160 of this length, each of them read by several.
  url: { characters: LIMITS.urlCharacters.max, ms: 100 },
  header: { characters: LIMITS.headerBytes.max, ms: 250 },
};
/** What a short input may cost, and where the longest one is not read: code is compiled, and limits not yet reached. */
const MAX_NS_PER_CHARACTER = 8_000;
const FREE_MS = 60;
/** A machine that is busy, or slower than that one, may take so many times longer, and no more. */
const MAX_SLOWNESS = 2;
/** What a reader may give for any input, however short. */
const FREE_OUTPUT = 20_000;
const DEFAULT_FACTOR = 40;
/** Before a verdict the input grows until it takes so long, or is so long. */
const SURE_MS = 120;
const SURE_CHARACTERS = 512 * 1024;
const LEAST_CHARACTERS = 1_024;

export function judge(reader: Reader, input: HostileText, { characters, floorMs, longest }: Sizes): Verdict {
  // Who is slow at a quarter would take minutes over the whole.
  if (characters > LEAST_CHARACTERS && isSlow(reader, input.make(characters))) {
    return judge(reader, input, { characters: characters / 4, floorMs, longest });
  }
  const largest = input.make(characters * 4);
  const { cpuMs, weight, thrown } = run(reader, largest, 1);
  const told = { cpuMs, characters: largest.length };
  const fail = (why: string): Verdict => ({ ...told, failure: { reader: reader.name, input: input.name, why } });
  if (thrown !== undefined) return fail(`throws ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  const most = FREE_OUTPUT + (reader.factor ?? DEFAULT_FACTOR) * largest.length;
  if (weight > most) return fail(`gives ${weight} characters for ${largest.length}`);
  if (cpuMs < floorMs) return told;
  const mostMs = FREE_MS + (MAX_NS_PER_CHARACTER * largest.length) / 1e6;
  if (cpuMs > mostMs) {
    const again = run(reader, largest, 3).cpuMs;
    if (again > mostMs * slowness()) return fail(`takes ${again.toFixed(0)} ms for ${largest.length}: too slow`);
  }
  if (longest && cpuMs > allowedMs(reader, largest.length)) {
    const slow = slowFor(reader, input, characters * 4);
    if (slow) return fail(`takes ${slow.ms.toFixed(0)} ms for ${slow.length} characters: too slow`);
  }
  for (let smallest = characters; ; smallest *= 2) {
    const times = timed(reader, input, smallest, floorMs);
    const four = times[2];
    if (four.ms < floorMs || !grows(times)) return told;
    const isSure = four.ms >= SURE_MS || four.length >= SURE_CHARACTERS;
    if (!isSure) continue;
    // Once more: memory that is collected amid one of them decides nothing.
    const again = timed(reader, input, smallest, floorMs);
    if (!grows(again)) return told;
    return fail(`takes ${again.map(({ ms, length }) => `${ms.toFixed(1)} ms for ${length}`).join(', ')} characters`);
  }
}

/** What so many characters may take when nothing else is to be paid for. */
function allowedMs({ of }: Reader, length: number): number {
  return (LONGEST[of].ms * length) / LONGEST[of].characters;
}

/**
 * The input that shows it, if a reader is too slow for the longest input of its kind. A short one that is read slowly says
 * little, since code is compiled at first, and since limits end the work on a long one: it grows until it is read fast
 * enough, takes longer than the longest may, or is the longest.
 */
function slowFor(reader: Reader, input: HostileText, characters: number): Timed | undefined {
  const { characters: longest, ms: mostMs } = LONGEST[reader.of];
  for (let wanted = characters; ; wanted *= 4) {
    const text = input.make(Math.min(wanted, longest));
    const { cpuMs } = run(reader, text, 1);
    if (cpuMs > mostMs * MAX_SLOWNESS || (cpuMs > mostMs && run(reader, text, 1).cpuMs > mostMs * slowness())) {
      return { ms: cpuMs, length: text.length };
    }
    // That the time grows no faster than the input is judged apart.
    if (cpuMs < allowedMs(reader, text.length) || wanted >= longest) return undefined;
  }
}

function timed(reader: Reader, input: HostileText, smallest: number, floorMs: number): [Timed, Timed, Timed] {
  const of = (characters: number): Timed => {
    const text = input.make(characters);
    return { ms: run(reader, text, 3, floorMs / 8).cpuMs, length: text.length };
  };
  return [of(smallest), of(smallest * 2), of(smallest * 4)];
}

const grows = ([one, two, four]: [Timed, Timed, Timed]): boolean =>
  growth(one, two) > MAX_GROWTH && growth(two, four) > MAX_GROWTH;

/** What the yardstick takes on a quiet machine of the kind that the ceiling was set on. */
const YARDSTICK_MS = 8;

/** How many times slower than that this machine is just now, at least 1 and within a limit: beside others work takes longer. */
function slowness(): number {
  const words = Array.from({ length: 20_000 }, (_, at) => `${(at * 7_919) % 20_011} word`);
  const yardstick = { name: 'yardstick', of: 'text', read: () => [...words].sort().join(' ').split(/\s+/) } as const;
  return Math.min(MAX_SLOWNESS, Math.max(1, run(yardstick, '', 3).cpuMs / YARDSTICK_MS));
}

/** Twice, if need be: the first run also compiles the code. */
const isSlow = (reader: Reader, text: string): boolean =>
  run(reader, text, 1).cpuMs > SURE_MS && run(reader, text, 1).cpuMs > SURE_MS;

interface Timed {
  readonly ms: number;
  readonly length: number;
}

/** By how much more the time grew than the input did, as if that had doubled. */
function growth(less: Timed, more: Timed): number {
  const doublings = Math.log2(more.length / less.length);
  // An input that stopped growing costs no more.
  if (doublings < 0.5) return 1;
  return (more.ms / Math.max(less.ms, 0.01)) ** (1 / doublings);
}

interface Outcome {
  readonly cpuMs: number;
  readonly weight: number;
  /** What was thrown and is no CrawlError. */
  readonly thrown: unknown;
}

/** What a reader reads for a text. */
export function givenTo({ prepare }: Reader, text: string): string {
  return (prepare ? prepare(text) : text) as string;
}

let looks = 0;

/** The same text again, and yet another: who remembers what was read would be fast from the second time on. */
function another(text: string, of: InputKind): string {
  const number = looks++;
  if (of !== 'json' && of !== 'sitemap') return text + number;
  return text + number.toString(2).replaceAll('0', ' ').replaceAll('1', '\n');
}

/** The least time of several runs; a run shorter than `leastMs` says little and is made more often. */
function run(reader: Reader, text: string, times: number, leastMs = 0): Outcome {
  const once = (): Outcome => look(reader, givenTo(reader, another(text, reader.of)));
  let best = once();
  for (let round = 1; round < times || (best.cpuMs < leastMs && round < times * 5); round++)
    best = faster(best, once());
  return best;
}

const faster = (one: Outcome, other: Outcome): Outcome => (other.cpuMs < one.cpuMs ? other : one);

function look(reader: Reader, given: string): Outcome {
  let weight = 0;
  let thrown: unknown;
  const startedMs = performance.now();
  const before = process.cpuUsage();
  try {
    // Much is worked out when it is first looked at: weighing is part of reading.
    weight = weightOf(reader.read(given));
  } catch (error) {
    // A refusal has a code; anything else is a fault of ours.
    if (!(error instanceof CrawlError)) thrown = error;
    else weight = error.message.length;
  }
  const { user, system } = process.cpuUsage(before);
  // The processor's time counts other threads, the wall's counts other processes: the lesser is nearer.
  return { cpuMs: Math.min((user + system) / 1_000, performance.now() - startedMs), weight, thrown };
}

/** Deeper than any result may be: it could not be written as JSON, either. */
const MAX_DEPTH = 300;

/** The characters of a value, as JSON would roughly have them. Getters are read, as whoever wants the value would. */
export function weightOf(value: unknown, depth = 0): number {
  if (depth > MAX_DEPTH) return Number.POSITIVE_INFINITY;
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof URL) return value.href.length;
  if (value instanceof Map) return weightOf([...value], depth + 1);
  if (value instanceof Set) return weightOf([...value], depth + 1);
  let weight = 2;
  if (Array.isArray(value)) {
    for (const one of value) weight += weightOf(one, depth + 1) + 1;
    return weight;
  }
  for (const key in value) weight += key.length + 3 + weightOf((value as Record<string, unknown>)[key], depth + 1);
  return weight;
}
