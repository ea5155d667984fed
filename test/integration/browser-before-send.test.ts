// The last question before a browser asks for a document: at the navigation's start, and where documents are gated also
// when the request itself is about to leave. A no leaves the server without a request.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CrawlError } from '../../src/errors.js';
import { createDeadline } from '../../src/fetch/browser/deadline.js';
import { navigate } from '../../src/fetch/browser/navigate.js';
import { type BrowserPool, createBrowserPool } from '../../src/fetch/browser/pool.js';
import { browserPath, launchPlan, serveSite, type Site } from '../support/browser.js';

describe.skipIf(browserPath === undefined)('a document whose lease ran out', () => {
  let pool: BrowserPool;
  let site: Site;
  beforeEach(async () => {
    site = await serveSite({ '/': '<title>home</title>' });
    pool = createBrowserPool({ launch: launchPlan(), guard: { allowPrivateAddresses: ['127.0.0.0/8'] } });
  });
  afterEach(async () => {
    await pool.close();
    await site.close();
  });

  /** Loads the page; the lease is good for so many questions. */
  const load = (redirects: 'report' | 'follow', goodFor: number) =>
    pool.lend({}, async (lent) => {
      let asked = 0;
      const order = {
        url: `${site.url}/`,
        method: 'GET',
        headers: {},
        redirects,
        maxRedirects: 3,
        beforeSend: () => {
          if (++asked > goodFor) throw new CrawlError('LEASE_LOST', 'the lease ran out before the request was sent');
        },
      };
      const deadline = createDeadline(60_000, order.url, new AbortController().signal);
      try {
        return (await navigate(lent, order, {}, deadline, pool.relay)).capture.statusCode;
      } finally {
        deadline.end();
      }
    });

  it('is not asked for, whether the navigation is yet to start or its request is about to leave', async () => {
    await expect(load('follow', 0)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(load('report', 0)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(load('report', 1)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(site.asked).toEqual([]);
    expect(await load('report', 2)).toBe(200);
    expect(site.asked.filter((path) => path === '/')).toEqual(['/']);
  });
});
