import { expect, it } from 'vitest';
import { Log, LogLevel } from '../../observe/log.js';
import { Request } from '../../request/request.js';
import type { Records } from '../../crawl/run/settler.js';
import { createFateRecorder, recordLostWorkers } from './fates.js';

const log = new Log({ level: LogLevel.OFF });
const RECORD = new Request({ url: 'https://example.com/a' }).toRecord();

function lostWorkers(count: () => Promise<number>, record: (records: Records) => Promise<boolean>) {
  const notes = () => Promise.resolve({ 'fate/1': `WORKER_LOST 3 ${RECORD}`, other: 'x' });
  return recordLostWorkers({ fateOf: createFateRecorder('crawl'), count, notes, record, log });
}

it('records what ended its worker just before the end', async () => {
  const recorded: Records[] = [];
  const recorder = lostWorkers(
    () => Promise.resolve(1),
    (records) => Promise.resolve(recorded.push(records) > 0),
  );
  await recorder.close();
  expect(recorded).toHaveLength(1);
  expect(recorded[0]!.pages).toHaveLength(1);
  expect(recorded[0]!.notes).toEqual({ 'fate/1': null });
});

it('ends although the store does not answer', async () => {
  const recorder = lostWorkers(
    () => Promise.reject(new Error('away')),
    () => Promise.reject(new Error('never asked')),
  );
  await recorder.close();
});
