// `unit` runs first (beside the source, no I/O, seconds). Then `sockets` (real servers and disks) and `processes` (whole
// crawls in processes and browsers) together: while one waits, another computes. Then what asserts times: `timed`, three
// at a time since some only wait, and `alone` what compares the speed of two things. All but `unit` and `sources` import a
// bundle of src/.
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';
import { BaseSequencer, type ProjectConfig, type TestSpecification } from 'vitest/node';
// @ts-expect-error scripts have no types
import { testSources } from './scripts/test-sources.mjs';

/** A neighbour would change the result. */
const ALONE = ['test/integration/http-cost.test.ts'];

/** Asserts times that a machine with work for all its cores may miss. */
const TIMED = [
  'test/growth/growth.test.ts',
  'test/fault/{lease-fencing,slow-calls}.test.ts',
  'test/integration/{autoscaled-pool,dispatchers,polite-processes,politeness,run-many}.test.ts',
  'test/integration/{browser-hostile,browser-pool,redis-pages,serve-console,slow-hosts}.test.ts',
];

const PROCESSES = [
  'test/{fault,amid}/**/*.test.ts',
  'test/security/{browser,canaries,terminal,files}*.test.ts',
  'test/integration/{browser,pods,cli,batch,serve,simweb-process}*.test.ts',
  'test/integration/{docs-site,examples,package,page-cache}.test.ts',
];

/**
 * Files that take long. They start first, so that none is left over when the others are done; those that mostly wait
 * stand between those that compute.
 */
const LONGEST = [
  'conformance/frontier-model-redis',
  'integration/package',
  'fault/pods-lost.test',
  'integration/browser-navigation',
  'integration/cli-guides',
  'fault/redis-silence',
  'fault/faults',
  'integration/navigation.test',
  'fault/pods-machines',
  'fault/pods-suspects',
  'integration/watch.test',
  'fault/pods-identity',
  'integration/examples',
  'integration/redis-cluster',
  'integration/browser-web',
  'integration/pods-operate',
  'integration/cli.test',
  'integration/slow-hosts-honest',
  'integration/browser-crawler',
  'integration/serve-jobs',
  'integration/redis-spill',
  'integration/pods-machines',
  'fault/blocked-loop',
  'integration/serve-console',
  'integration/slow-hosts.test',
  'integration/politeness.test',
  'growth/growth.test',
  'integration/browser-hostile',
  'integration/browser-pool',
  'integration/polite-processes',
  'integration/fresh-figures',
  'integration/s3-pods',
  'conformance/postgres.test',
  'conformance/html-tree',
  'integration/documents-processes',
  'conformance/frontier-model.test',
  'growth/readers',
  'integration/compact-while-crawling',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.includes(`/test/${name}`));
      return at === -1 ? LONGEST.length : at;
    };
    const order = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => order(one) - order(other) || rank(one) - rank(other));
  }
}

/** Only when asked for: it is a module more to load per file. */
const COST = process.env.ORCRAWL_TEST_COST === undefined ? [] : ['scripts/test-cost.mjs'];

/** Asks which function of which source file ran. */
const SOURCES = ['test/growth/readers.test.ts'];

const LAST = [...TIMED, ...ALONE];
const SHORT_LIVES = fileURLToPath(new URL('scripts/short-lives.cjs', import.meta.url));

const together = {
  /** More than there are cores: most of these files wait most of their time. */
  maxWorkers: 6,
  sequence: { groupOrder: 1 },
  /** For the workers, and for the processes that they start: these are short of processors, not of locks. */
  execArgv: ['--require', SHORT_LIVES],
  env: { NODE_OPTIONS: `--require ${JSON.stringify(SHORT_LIVES)}`, MALLOC_ARENA_MAX: '1' },
};

const plugins = [testSources()];

const whole = (test: ProjectConfig): UserWorkspaceConfig => ({
  plugins,
  // vitest polls for a second, in which a process may not even have begun on a busy machine.
  test: { testTimeout: 120_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } }, setupFiles: COST, ...test },
});

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      // No I/O and no state that outlives a test: one thread pool without isolation keeps it to seconds.
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          testTimeout: 20_000,
          pool: 'threads',
          isolate: false,
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      whole({
        ...together,
        name: 'sockets',
        include: ['test/**/*.test.ts'],
        exclude: [...LAST, ...PROCESSES, ...SOURCES],
      }),
      whole({ ...together, name: 'processes', include: PROCESSES, exclude: LAST }),
      { test: { ...together, name: 'sources', include: SOURCES } },
      whole({ name: 'timed', include: TIMED, maxWorkers: 3, sequence: { groupOrder: 2 } }),
      whole({ name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 3 } }),
    ],
  },
});
