// The log of the crawl on disk: what the orchestrator tells people, as JSON lines in {log_dir}/crawl.log.
// Promise: every line that is shown is also in the file, and a disk that fails does not stop the crawl.
import { join } from 'node:path';
import { Log, LogLevel, type LogEntry } from '../observe/log.js';
import { openLogFile } from '../observe/log-file.js';
import { createJsonWriter } from '../observe/log-lines.js';
import type { PodsConfig } from './config/types.js';

export const CRAWL_LOG = 'crawl.log';

export interface CrawlLog {
  /** Writes to people and to the file. */
  readonly log: Log;
  /** Writes only to the file: for what is shown to people elsewhere. */
  readonly file: Log;
  close(): void;
}

export function openCrawlLog(config: PodsConfig, shown: Log): CrawlLog {
  const file = openLogFile(join(config.logDir, CRAWL_LOG));
  const writer = createJsonWriter(file.output);
  const common = { level: LogLevel[config.logLevel], data: { process: 'orchestrator', pid: process.pid } };
  const log = new Log({
    ...common,
    logger: {
      write(entry: LogEntry) {
        writer.write(entry);
        const { process: _process, pid: _pid, ...data } = entry.data ?? {};
        shown.internal(entry.level, entry.message, Object.keys(data).length > 0 ? data : null, entry.exception);
      },
    },
  });
  return { log, file: new Log({ ...common, logger: writer }), close: file.close };
}
