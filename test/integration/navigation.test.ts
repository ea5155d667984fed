// The navigation suite over HTTP: scripts, batches and pods.
import { describe, expect, it } from 'vitest';
import { navigationSuite } from '../../src/testing/index.js';
import { httpPlacements } from '../support/navigation-placements.js';

for (const placement of httpPlacements) navigationSuite({ describe, it, expect }, placement);
