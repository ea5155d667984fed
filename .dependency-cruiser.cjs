// The direction of imports in src/, as drawn in docs/lifecycle.md. Ports are types, so a stage may
// import another stage's port with `import type`; values cross stages only in crawl/.
const STAGES = 'frontier|dispatch|politeness|fetch|session|parse|extract|handle|store';

/** What knows nothing above it. */
const FOUNDATION =
  '^src/(errors|limits|option-checks|configuration|configuration-options|first-use|setting-names)\\.ts|^src/(base|request)/';

/** Only files under `home` may import the package `name`. */
const adapterOnly = (name, home) => ({
  name: `${name}-only-in-its-adapter`,
  severity: 'error',
  from: { path: '^src/', pathNot: [home, '\\.test\\.ts$'] },
  to: { path: `node_modules/${name}/` },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'foundation-knows-nothing-above',
      severity: 'error',
      from: { path: FOUNDATION, pathNot: '\\.test\\.ts$' },
      // The port of storage backends is types only: the Configuration names it, and it names the ports of the stages.
      to: { path: '^src/', pathNot: [FOUNDATION, '^src/storage-client\\.ts$'] },
    },
    {
      name: 'stages-meet-through-ports',
      comment: 'A stage imports values only from itself, request/, errors and observe/; types from other stages.',
      severity: 'error',
      from: { path: `^src/(${STAGES})/`, pathNot: '\\.test\\.ts$' },
      to: {
        path: `^src/(${STAGES})/`,
        pathNot: '^src/$1/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'stages-do-not-know-who-composes-them',
      severity: 'error',
      from: { path: `^src/(${STAGES}|observe)/`, pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(crawl|pods|serve|cli|dashboard|testing|index\\.ts)' },
    },
    {
      name: 'crawl-does-not-know-pods',
      severity: 'error',
      from: { path: '^src/crawl/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(pods|serve|cli|dashboard|testing|index\\.ts)' },
    },
    {
      name: 'nobody-imports-the-edge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|dashboard)/' },
      to: { path: '^src/(cli|dashboard)/' },
    },
    adapterOnly('undici', '^src/fetch/http/'),
    adapterOnly('lmdb', '^src/(base|frontier|store|serve)/.*lmdb'),
    adapterOnly('ioredis', '^src/frontier/redis/'),
    adapterOnly('playwright-core', '^src/fetch/browser/'),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
  },
};
