// Prometheus' own checker, from Debian's package `prometheus`; tests that need it say so where it is missing.
import { spawnSync } from 'node:child_process';

/** Why checks by promtool cannot run here; undefined when they can. */
export const promtoolMissing: string | undefined =
  spawnSync('promtool', ['--version']).status === 0
    ? undefined
    : 'promtool is not installed (Debian package prometheus)';

if (promtoolMissing !== undefined) process.stderr.write(`skipped: ${promtoolMissing}\n`);
