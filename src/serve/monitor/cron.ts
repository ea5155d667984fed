// Cron expressions of five fields: read once, and the next time that one names, in any time zone.
// Promise: reading and searching are bounded; an hour that the clocks leave out has no times, one they repeat has its first.

export interface Cron {
  /** The first time after this one, or undefined when there is none within eight years. */
  nextAfter(ms: number, timeZone: string): number | undefined;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly words?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: 'a minute', from: 0, to: 59 },
  { name: 'an hour', from: 0, to: 23 },
  { name: 'a day of the month', from: 1, to: 31 },
  {
    name: 'a month',
    from: 1,
    to: 12,
    words: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'a day of the week', from: 0, to: 7, words: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

const MAX_CHARACTERS = 200;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** 29 February of a year like 2104 is eight years after the one before it. */
const MAX_DAYS = 366 * 8;

/** Throws an Error that says which field is wrong. */
export function parseCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  if (text.length > MAX_CHARACTERS || parts.length !== FIELDS.length) {
    throw new Error('a cron expression has five fields: minute, hour, day of the month, month, day of the week');
  }
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => valuesOf(parts[index]!, field)) as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  if (weekdays.has(7)) weekdays.add(0);
  // As cron has it: with both kinds of days given, either will do.
  const isEither = !parts[2]!.startsWith('*') && !parts[4]!.startsWith('*');
  const times = ascending(hours).flatMap((hour) => ascending(minutes).map((minute) => hour * 60 + minute));

  function hasDay(day: Date): boolean {
    const isDay = days.has(day.getUTCDate());
    const isWeekday = weekdays.has(day.getUTCDay());
    return months.has(day.getUTCMonth() + 1) && (isEither ? isDay || isWeekday : isDay && isWeekday);
  }

  return {
    nextAfter(ms, timeZone) {
      const localMs = ms + offsetAt(ms, timeZone);
      const today = Math.floor(localMs / DAY_MS) * DAY_MS;
      for (let count = 0; count < MAX_DAYS; count++) {
        const day = today + count * DAY_MS;
        if (!hasDay(new Date(day))) continue;
        for (const minute of times) {
          const local = day + minute * 60_000;
          // No zone changes its clocks by more than this.
          if (local < localMs - 3 * HOUR_MS) continue;
          const found = instantOf(local, timeZone);
          if (found !== undefined && found > ms) return found;
        }
      }
      return undefined;
    },
  };
}

/** `*`, `5`, `1-5`, `*\/10`, `mon-fri`, and lists of them. */
function valuesOf(text: string, field: Field): Set<number> {
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const found = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(part);
    const [, star, first = '', last, every] = found ?? [];
    const from = star ? field.from : numberOf(first, field);
    const to = star ? field.to : last === undefined ? (every ? field.to : from) : numberOf(last, field);
    const step = every === undefined ? 1 : Number(every);
    if (!found || !(from >= field.from && to <= field.to && from <= to && step >= 1)) {
      throw new Error(`"${part}" is not ${field.name} (${field.from} to ${field.to})`);
    }
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function numberOf(text: string, { words }: Field): number {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  return text === '' ? NaN : (words?.indexOf(text) ?? -1);
}

const ascending = (values: ReadonlySet<number>): number[] => [...values].sort((one, other) => one - other);

const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 1_000;

/** Throws a RangeError for a zone that does not exist. */
function formatFor(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(timeZone, format);
  }
  return format;
}

export function isTimeZone(name: string): boolean {
  try {
    formatFor(name);
    return true;
  } catch {
    return false;
  }
}

/** How far the clocks of a zone are ahead of UTC. */
function offsetAt(ms: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const parts = new Map(
    formatFor(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const [year, month, day] = [parts.get('year')!, parts.get('month')!, parts.get('day')!];
  const local = Date.UTC(year, month - 1, day, parts.get('hour')!, parts.get('minute')!, parts.get('second')!);
  return local - Math.floor(ms / 1000) * 1000;
}

/** When clocks show this; undefined when they never do, because they are put forward over it. */
function instantOf(local: number, timeZone: string): number | undefined {
  const before = local - offsetAt(local - DAY_MS, timeZone);
  const after = local - offsetAt(local + DAY_MS, timeZone);
  const fits = [before, after].filter((ms) => ms + offsetAt(ms, timeZone) === local);
  return fits.length === 0 ? undefined : Math.min(...fits);
}
