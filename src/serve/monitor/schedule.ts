// When a monitor runs: a cron expression, or a sentence that is the same as one.
// Promise: what is accepted is kept exactly; a sentence that no cron expression says is refused, with those that are.
import { isTimeZone, parseCron } from './cron.js';
import type { Schedule } from './monitor.js';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const TIME = '(?: at (\\d{1,2})(?::(\\d{2}))? ?(am|pm)?)?';
const ACCEPTED =
  '"every 30 minutes", "hourly", "every 6 hours", "daily at 9:00", "weekdays at 9am", "every monday at 18:30", "weekly", "monthly"';

export interface GivenSchedule {
  readonly cron?: string | undefined;
  readonly text?: string | undefined;
  readonly timezone?: string | undefined;
}

/** Throws an Error that says what is wrong. */
export function resolveSchedule({ cron, text, timezone = 'UTC' }: GivenSchedule): Schedule {
  if ((cron === undefined) === (text === undefined)) throw new Error('give either "cron" or "text"');
  if (!isTimeZone(timezone)) throw new Error(`"${timezone.slice(0, 100)}" is not a time zone such as Europe/Berlin`);
  const expression = cron ?? cronOf(text!);
  if (expression === undefined) throw new Error(`"text" can be like ${ACCEPTED}; for anything else use "cron"`);
  const next = parseCron(expression).nextAfter(Date.now(), timezone);
  if (next === undefined) throw new Error(`"${expression}" matches no day of the next eight years`);
  return { cron: expression.trim(), timezone };
}

export function nextRun({ cron, timezone }: Schedule, afterMs: number): number | undefined {
  return parseCron(cron).nextAfter(afterMs, timezone);
}

function cronOf(sentence: string): string | undefined {
  const text = sentence.trim().toLowerCase().replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, 200);
  if (text === 'hourly') return '0 * * * *';
  const often = /^every (?:(\d{1,2}) )?(minute|hour)s?$/.exec(text);
  if (often) return stepOf(Number(often[1] ?? 1), often[2] === 'minute');
  const daily = new RegExp(`^(?:daily|every day)${TIME}$`).exec(text);
  if (daily) return atTime(daily.slice(1), '* * *');
  const weekdays = new RegExp(`^(?:on |every )?weekdays?${TIME}$`).exec(text);
  if (weekdays) return atTime(weekdays.slice(1), '* * 1-5');
  const weekly = new RegExp(`^(?:weekly|every week)(?: on (\\w+))?${TIME}$`).exec(text);
  if (weekly) return onDay(weekly[1] ?? 'monday', weekly.slice(2));
  const monthly = new RegExp(`^(?:monthly|every month)${TIME}$`).exec(text);
  if (monthly) return atTime(monthly.slice(1), '1 * *');
  const named = new RegExp(`^(?:every |on )?(\\w+?)s?${TIME}$`).exec(text);
  return named ? onDay(named[1]!, named.slice(2)) : undefined;
}

/** Steps that do not divide the hour or the day would be of different lengths. */
function stepOf(step: number, isMinutes: boolean): string | undefined {
  if (step < 1 || (isMinutes ? 60 : 24) % step !== 0) return undefined;
  if (isMinutes) return step === 60 ? '0 * * * *' : `${step === 1 ? '*' : `*/${step}`} * * * *`;
  return `0 ${step === 24 ? '0' : step === 1 ? '*' : `*/${step}`} * * *`;
}

function onDay(name: string, time: readonly (string | undefined)[]): string | undefined {
  const day = DAYS.indexOf(name);
  return day < 0 ? undefined : atTime(time, `* * ${day}`);
}

function atTime([hour = '0', minute = '0', half]: readonly (string | undefined)[], days: string): string | undefined {
  const given = Number(hour);
  if (half ? given < 1 || given > 12 : given > 23) return undefined;
  if (Number(minute) > 59) return undefined;
  const hours = half ? (given % 12) + (half === 'pm' ? 12 : 0) : given;
  return `${Number(minute)} ${hours} ${days}`;
}
