// A vitest reporter for `scripts/test.mjs`: writes which test files did not pass, those included whose worker died
// before it could say so, to the file that ORCRAWL_UNPASSED names.
import { writeFileSync } from 'node:fs';

const WORKER_DIED = 'Worker exited unexpectedly';

export default class UnpassedReporter {
  onTestRunEnd(modules, errors, reason) {
    const files = modules
      .filter((module) => !['passed', 'skipped'].includes(module.state()))
      .map((module) => ({ project: module.project.name, file: module.relativeModuleId, state: module.state() }));
    // An error outside any test, but for a worker's death, has no file that could be tried again.
    const loose = errors.filter(({ message, cause }) => !`${message} ${cause?.message}`.includes(WORKER_DIED)).length;
    writeFileSync(process.env.ORCRAWL_UNPASSED, JSON.stringify({ reason, files, loose }));
  }
}
