// The direction of imports in src/, as drawn in docs/lifecycle.md. Ports are types, so a stage may
// import another stage's port with `import type`; values cross stages only in crawl/.
const STAGES = 'frontier|dispatch|politeness|fetch|session|parse|extract|handle|store';

/** What knows nothing above it. */
const FOUNDATION =
  '^src/(errors|limits|option-checks|configuration|configuration-options|first-use|setting-names|event-names)\\.ts|^src/(base|request)/';

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
      to: { path: '^src/(crawl|pods|serve|cli|console|testing|index\\.ts)' },
    },
    {
      name: 'crawl-does-not-know-pods',
      severity: 'error',
      from: { path: '^src/crawl/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(pods|serve|cli|console|testing|index\\.ts)' },
    },
    {
      name: 'fresh-does-not-know-who-crawls',
      severity: 'error',
      from: { path: '^src/fresh/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(crawl|pods|serve|cli|console|testing|index\\.ts)' },
    },
    {
      name: 'nobody-imports-the-edge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|console)/' },
      to: { path: '^src/(cli|console)/' },
    },
    {
      name: 'pods-and-serve-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/(pods|serve)/' },
      to: { path: '^src/(pods|serve)/', pathNot: '^src/$1/' },
    },
    {
      name: 'documents-read-bytes',
      comment: 'Readers of documents run in a thread: they know the foundation and how bytes are decoded.',
      severity: 'error',
      from: { path: '^src/documents/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: [FOUNDATION, '^src/documents/', '^src/parse/encoding/'] },
    },
    {
      name: 'stages-do-not-read-documents',
      severity: 'error',
      from: { path: `^src/(${STAGES}|observe)/`, pathNot: '\\.test\\.ts$' },
      to: { path: '^src/documents/', dependencyTypesNot: ['type-only'] },
    },
    adapterOnly('unpdf', '^src/documents/pdf/'),
    adapterOnly('hyparquet-writer', '^src/store/parquet/'),
    adapterOnly('@aws-sdk', '^src/store/content/remote/'),
    adapterOnly('undici', '^src/fetch/http/'),
    adapterOnly('lmdb', '^src/(base|frontier|fresh|store|serve)/.*lmdb'),
    adapterOnly('ioredis', '^src/frontier/redis/'),
    adapterOnly('playwright-core', '^src/fetch/browser/'),
    adapterOnly('pg', '^src/postgres/'),
    {
      name: 'postgres-is-a-strangers-backend',
      comment: 'It knows the public package only, as anybody outside would.',
      severity: 'error',
      from: { path: '^src/postgres/' },
      to: { path: '^src/', pathNot: ['^src/postgres/', '^src/index\\.ts$'] },
    },
    {
      name: 'nobody-imports-postgres',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/postgres/' },
      to: { path: '^src/postgres/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
  },
};
