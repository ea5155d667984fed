import { describe, expect, it } from 'vitest';
import type { App } from '../app.js';
import type { Job } from '../jobs/store.js';
import { checkRoom } from './jobs.js';

const token = { name: 'team-a', concurrency: 1, pagesPerDay: Infinity };

describe('room for one more job', () => {
  const appWith = (count: number, more: Partial<Job> = {}): App => {
    const job = { owner: 'team-a', status: 'scraping', ...more } as Job;
    return { store: { list: () => Promise.resolve(Array<Job>(count).fill(job)) } } as unknown as App;
  };

  it('is there below 200 jobs of the token that are not done; then it is told when to come back', async () => {
    await checkRoom(appWith(199), { token });
    await expect(checkRoom(appWith(200), { token })).rejects.toMatchObject({
      ...{ status: 429, code: 'TOO_MANY_JOBS', retryAfterSecs: 10 },
      message: expect.stringContaining('"team-a" has 200 jobs') as string,
    });
  });

  it('is not taken by jobs that are done, or of others', async () => {
    await checkRoom(appWith(200, { status: 'completed' }), { token });
    await checkRoom(appWith(200, { owner: 'team-b' }), { token });
  });
});
