// What bodies of /v2/monitor may say. What this server does not do is refused by the route, which names it.
import { z } from 'zod';
import { MONITOR_EVENTS } from '../monitor/monitor.js';
import { aUrl, crawlBody, scrapeOptionsBody } from './schemas.js';

const MAX_URLS = 1_000;
const MAX_TARGETS = 20;

const anId = z
  .string()
  .regex(/^[\w-]{1,100}$/)
  .optional();

const aSchedule = z
  .strictObject({
    cron: z.string().max(200).optional(),
    text: z.string().max(200).optional(),
    timezone: z.string().max(100).optional(),
  })
  .describe('Either a cron expression of five fields, or a text like "every 30 minutes". Time zone: UTC by default');

const aTarget = z.discriminatedUnion('type', [
  z.strictObject({
    id: anId,
    type: z.literal('scrape'),
    urls: z.array(aUrl).min(1).max(MAX_URLS),
    scrapeOptions: scrapeOptionsBody.optional(),
  }),
  z.strictObject({
    id: anId,
    type: z.literal('crawl'),
    url: aUrl,
    crawlOptions: crawlBody.omit({ url: true, webhook: true, prompt: true, duplicates: true }).optional(),
    scrapeOptions: scrapeOptionsBody.optional(),
  }),
  z.looseObject({ type: z.literal('search') }).describe('Refused: this server does not monitor searches'),
]);
export type GivenTarget = z.infer<typeof aTarget>;

const fields = {
  name: z.string().min(1).max(200),
  schedule: aSchedule,
  webhook: z
    .strictObject({
      url: aUrl,
      headers: z.record(z.string().max(200), z.string().max(8_192)).optional(),
      metadata: z.record(z.string().max(200), z.unknown()).optional(),
      events: z.array(z.enum(MONITOR_EVENTS)).max(10).optional(),
    })
    .nullish(),
  notification: z
    .looseObject({ email: z.looseObject({ enabled: z.boolean().optional() }).optional() })
    .nullish()
    .describe('Refused when it asks for e-mail'),
  targets: z.array(aTarget).min(1).max(MAX_TARGETS),
  retentionDays: z.int().min(1).max(365).optional(),
  goal: z.string().max(10_000).nullish().describe('Refused: this server does not judge changes'),
  judgeEnabled: z.boolean().optional(),
  origin: z.string().max(200).optional(),
  integration: z.string().max(200).nullish(),
};

export const createMonitorBody = z.strictObject(fields);
export const updateMonitorBody = z
  .strictObject({ ...fields, status: z.enum(['active', 'paused']).optional() })
  .partial();
export type MonitorRequest = z.infer<typeof updateMonitorBody>;
