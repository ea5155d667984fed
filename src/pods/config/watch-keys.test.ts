import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readPodsConfig } from './config.js';

async function configOf(...lines: string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'watch-keys-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'crawl.yaml');
  const all = [
    'pods: [redis://localhost:6379]',
    'data_dirs: [./data]',
    'email: a@b.example',
    'seed_file: s.txt',
    ...lines,
  ];
  await writeFile(file, all.join('\n'));
  await writeFile(path.join(folder, 's.txt'), 'https://a.example/');
  return readPodsConfig(file);
}

it('a watch has one fetcher per pod, and its budget per hour', async () => {
  expect(await configOf('watch: { budget: 2/min, diff: true }')).toMatchObject({
    fetchersPerPod: 1,
    watch: { requestsPerHour: 120, importance: 'none', diff: true, webhook: undefined, hints: true },
  });
  const lists = await configOf('watch: { budget: 2/min, hints: ["https://a.example/feed"] }');
  expect(lists.watch?.hints).toEqual(['https://a.example/feed']);
  expect((await configOf()).watch).toBeUndefined();
});

it.each([
  ['watch: {}', 'watch.budget is missing'],
  ['watch: { budget: often }', 'requests per time'],
  ['watch: { budget: 1/h, webhook: "ftp://a" }', 'an http or https URL'],
  ['watch: { budget: 1/h, hints: [feed] }', 'watch.hints'],
  ['watch: { budget: 1/h, importance: handler }', 'watch.importance: handler needs handler'],
  ['duplicates: drop', 'duplicates'],
  ['watch: { budget: 1/h }\nfetchers_per_pod: 3', 'fetchers_per_pod must be 1 with watch, got 3'],
  ['watch: { budget: 1/h }\ndedup: bloom', 'dedup must be exact with watch'],
  ['watch: { budget: 1/h }\nmax_urls_per_domain: 5', 'max_urls_per_domain has no place in a watch'],
])('refuses %s', async (lines, problem) => {
  await expect(configOf(lines)).rejects.toThrow(problem);
});
