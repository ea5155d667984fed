// The navigation suite in a browser: scripts and batches that load pages in one, always or when a page needs it.
import { describe, expect, it } from 'vitest';
import { navigationSuite } from '../../src/testing/index.js';
import { browserPath } from '../support/browser.js';
import { browserPlacements } from '../support/navigation-placements.js';

describe.skipIf(browserPath === undefined)('with a browser', () => {
  for (const placement of browserPlacements) navigationSuite({ describe, it, expect }, placement);
});
