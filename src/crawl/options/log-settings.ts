// Checks the log's settings where a crawl starts. The log itself makes do with its defaults where they are invalid, since
// it must be able to report that; whoever starts a crawl gets an error.
import type { Configuration } from '../../configuration.js';

/** Throws OPTION_INVALID, with the name of the variable or file, when level or format is unknown. */
export function checkLogSettings(config: Configuration): void {
  config.get('logLevel');
  config.get('logFormat');
}
