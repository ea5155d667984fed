// The SQL that runs inside Postgres, read from sql/ when a schema is set up.
import { readFileSync } from 'node:fs';

const FILES = ['tables', 'clock', 'holders', 'add', 'lease', 'settle', 'open'] as const;

export const schemaSql = (): string =>
  FILES.map((name) => readFileSync(new URL(`./sql/${name}.sql`, import.meta.url), 'utf8')).join('\n');
