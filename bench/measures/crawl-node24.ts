// The same crawls with the contestants on Node 24; the servers stay on the Node in use.
import { nodeOfMajor } from '../crawl/peers.js';
import type { Figure } from '../measure.js';
import { measureCrawls } from './crawl.js';

export const measure = (): Promise<Figure[]> => measureCrawls(nodeOfMajor('24'), 'http');
