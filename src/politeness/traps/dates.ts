// Calendars link to the next month forever. A trap is a date far ahead, or one far back in a calendar path.
// Promise: linear in path and query; a year alone decides nothing, since it may be another number.

export interface DateWindowOptions {
  readonly maxYearsAhead: number;
  readonly maxCalendarYearsBack: number;
  readonly now: () => number;
}

const CALENDAR = /(?:^|[-_.])(?:calend[ae]r|kalender|agenda|events?|schedule|ical)(?:$|[-_.])/i;
const YEAR = /^[12]\d{3}$/;
const SMALL_NUMBER = /^\d{1,2}$/;
const ISO_DATE = /(?:^|\D)([12]\d{3})-(\d\d)(?=$|\D)/;
const COMPACT_DATE = /^([12]\d{3})-?(\d\d)(?:-?\d\d)?(?:$|T|%20|\+)/;
// A number further ahead is rarely a year, and a calendar reaches it only through earlier years.
const FURTHEST_YEARS = 100;

/** Whether the path or query has a month outside the window, or an invalid month. */
export function createDateWindow(options: DateWindowOptions): (segments: readonly string[], query: string) => boolean {
  const { maxYearsAhead, maxCalendarYearsBack, now } = options;
  return (segments, query) => {
    const found = dateIn(segments) ?? (query === '' ? undefined : dateInQuery(query));
    if (!found) return false;
    const yearsAhead = found.year - new Date(now()).getUTCFullYear();
    const isCalendar = segments.some((segment) => CALENDAR.test(segment));
    if (yearsAhead > maxYearsAhead) return isCalendar || yearsAhead <= FURTHEST_YEARS;
    return isCalendar && (-yearsAhead > maxCalendarYearsBack || found.month > 12);
  };
}

interface FoundDate {
  readonly year: number;
  /** 1 where none is named. */
  readonly month: number;
}

/** `/2024/5`, `/2024-05`, or a year after a segment that names a calendar. */
function dateIn(segments: readonly string[]): FoundDate | undefined {
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at] as string;
    if (segment.length < 4) continue;
    if (YEAR.test(segment)) {
      const next = segments[at + 1] ?? '';
      if (SMALL_NUMBER.test(next)) return { year: Number(segment), month: Number(next) };
      if (at > 0 && CALENDAR.test(segments[at - 1] as string)) return { year: Number(segment), month: 1 };
      continue;
    }
    const iso = ISO_DATE.exec(segment);
    if (iso) return { year: Number(iso[1]), month: Number(iso[2]) };
  }
  return undefined;
}

/** `date=2024-05-06`, `from_date=20240506`, `year=2024`. */
function dateInQuery(query: string): FoundDate | undefined {
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = pair.slice(0, equals).toLowerCase();
    const value = pair.slice(equals + 1);
    if (name.includes('date')) {
      const date = COMPACT_DATE.exec(value);
      if (date) return { year: Number(date[1]), month: Number(date[2]) };
    }
    if (name.endsWith('year') && YEAR.test(value)) return { year: Number(value), month: 1 };
  }
  return undefined;
}
