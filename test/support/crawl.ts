// What crawl tests share: a storage folder of their own and a quiet log.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { Configuration, Log, LogLevel } from '../../src/index.js';

/** A folder that is removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A configuration whose storages live in a folder of the test's. */
export async function testConfig(folder?: string): Promise<Configuration> {
  return new Configuration({ storageClientOptions: { localDataDirectory: folder ?? (await temporaryFolder()) } });
}

export const memoryConfig = () => new Configuration({ persistStorage: false });

/** Writes nothing. */
export const silent = new Log({ level: LogLevel.OFF });
