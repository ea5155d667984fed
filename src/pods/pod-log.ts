// The log of one process of a crawl on pods: its own file of JSON lines, each with pod and process.
import { join } from 'node:path';
import { Log, LogLevel } from '../observe/log.js';
import { type LogFile, openLogFile } from '../observe/log-file.js';
import { createJsonWriter } from '../observe/log-lines.js';
import type { PodsConfig } from './config/types.js';

export interface PodLog {
  readonly log: Log;
  close(): void;
}

export function openPodLog(
  config: PodsConfig,
  pod: number,
  role: 'orchestrator' | 'fetcher' | 'parser',
  id: number,
): PodLog {
  const file: LogFile = openLogFile(join(config.logDir, `pod_${pod}`, `${role}_${id}.log`));
  const log = new Log({
    level: LogLevel[config.logLevel],
    logger: createJsonWriter(file.output),
    data: { pod, process: `${role}_${id}`, pid: process.pid },
  });
  return { log, close: file.close };
}
