// What needs files says so when the content is in an object store: before, `compact` found nothing there and said so.
import { expect, it } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { inTemporaryFolder } from './cli-process.js';

it.each([
  ['compact', ['compact', '--keep', '1']],
  ['archive export', ['archive', 'export', '--wacz', 'crawl.wacz']],
] as const)('%s refuses content in an object store, and says what to do', async (command, args) => {
  await inTemporaryFolder(async (folder) => {
    const { code, stderr } = await orcrawlHere([...args, '--data-dir', 's3://bucket/crawl'], { cwd: folder });
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(`${command} works on data directories, not on s3://bucket/crawl: copy what is there`);
  });
});
