// The budget of a watch as people write it: `500/h`, `2/min`, `10000/day`.

const HOURLY = { s: 3_600, m: 60, h: 1, d: 1 / 24 } as const;

/** Requests per hour; undefined if the text is not a budget. */
export function requestsPerHour(text: string): number | undefined {
  const [, count, unit] =
    /^(\d{1,12}(?:\.\d{1,6})?)\s{0,4}\/\s{0,4}(s|sec|min|m|h|hour|d|day)$/.exec(text.trim()) ?? [];
  const perHour = unit === undefined ? NaN : Number(count) * HOURLY[unit.slice(0, 1) as keyof typeof HOURLY];
  return perHour > 0 ? perHour : undefined;
}
