// Dates as pages write them: for machines, or in words of the larger languages.
// Promise: ISO 8601 or null, years from 1990 to 2100; a day alone stays a day; an ambiguous one is none.

const MONTHS: readonly string[] = [
  'january januar janvier enero janeiro gennaio januari stycznia jan',
  'february februar février fevrier febrero fevereiro febbraio februari lutego feb',
  'march märz maerz mars marzo março maart marca mar',
  'april avril abril aprile kwietnia apr',
  'may mai mayo maio maggio mei maja',
  'june juni juin junio junho giugno czerwca jun',
  'july juli juillet julio julho luglio lipca jul',
  'august août aout agosto augustus sierpnia aug',
  'september septembre septiembre setembro settembre wrzesnia września sept sep',
  'october oktober octobre octubre outubro ottobre pazdziernika października oct okt',
  'november novembre noviembre novembro listopada nov',
  'december dezember décembre decembre diciembre dezembro dicembre grudnia dec dez',
];
const MONTH = new Map(MONTHS.flatMap((names, at) => names.split(' ').map((name) => [name, at + 1] as const)));

/** A text is looked at no further than this. */
const MOST_CHARACTERS = 300;

/** The first date in a short text, as a day; null when it has none, or one that could be two days. */
export function writtenDate(given: string): string | null {
  const text = given.slice(0, MOST_CHARACTERS).toLowerCase();
  const [, isoYear, isoMonth, isoDay] = /(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)/.exec(text) ?? [];
  if (isoYear) return dayOf(isoYear, isoMonth!, isoDay!);
  const dayFirst =
    /(?<!\d)(\d{1,2})(?:\.|st|nd|rd|th|er|º)?,? (?:de |of )?(\p{L}{3,12})\.?,? (?:de |del )?(\d{4})(?!\d)/u.exec(text);
  if (dayFirst && MONTH.has(dayFirst[2]!)) return dayOf(dayFirst[3]!, MONTH.get(dayFirst[2]!)!, dayFirst[1]!);
  const monthFirst = /(?<!\p{L})(\p{L}{3,12})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?!\d)/u.exec(text);
  if (monthFirst && MONTH.has(monthFirst[1]!)) return dayOf(monthFirst[3]!, MONTH.get(monthFirst[1]!)!, monthFirst[2]!);
  const [, day, month, year] = /(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/.exec(text) ?? [];
  if (year) return dayOf(year, month!, day!);
  const [, a, b, last] = /(?<!\d)(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/.exec(text) ?? [];
  if (!last) return null;
  if (Number(a) > 12) return dayOf(last, b!, a!);
  return Number(b) > 12 || a === b ? dayOf(last, a!, b!) : null;
}

function dayOf(year: string, month: string | number, day: string): string | null {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (y < 1990 || y > 2100 || m < 1 || m > 12 || d < 1 || d > new Date(Date.UTC(y, m, 0)).getUTCDate()) return null;
  return `${y}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`;
}

/** A date that is meant for machines, as ISO 8601; a day alone stays a day. */
export function statedDate(given: string | null | undefined): string | null {
  const text = given?.trim() ?? '';
  if (text === '' || text.length > 60) return null;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const isLocal = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text);
  const time = Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text);
  const year = Number.isNaN(time) ? 0 : new Date(time).getUTCFullYear();
  if (year < 1990 || year > 2100) return writtenDate(text);
  return /\d:\d/.test(text) ? new Date(time).toISOString() : isoDay(text, time);
}

/** A date without a time is read in the local zone by `Date.parse`; its day is what was meant. */
function isoDay(text: string, time: number): string {
  const date = new Date(time);
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) return text.slice(0, 10);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}
