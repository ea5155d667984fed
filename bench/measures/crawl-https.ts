// The same crawls over HTTPS, a new connection for every page.
import type { Figure } from '../measure.js';
import { measureCrawls } from './crawl.js';

export const measure = (): Promise<Figure[]> => measureCrawls(process.execPath, 'https');
