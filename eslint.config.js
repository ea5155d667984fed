// Linting for correctness only; layout belongs to prettier.
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', '.tests/', 'node_modules/', 'coverage/', 'storage/', 'site/', 'test/types/**/*.bad.ts'] },
  { files: ['**/*.mjs', '**/*.cjs', '**/*.js'], ...tseslint.configs.disableTypeChecked },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    ignores: ['**/*.test.ts'],
    plugins: { regexp },
    rules: {
      // Pages, headers and URLs are written by strangers: no pattern may take more than linear time over them.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      // A sticky pattern does not move. The rule does not see a repeat that passes over its own beginning, as of `<!--.*?-->`:
      // the growth suite does, where its input has that beginning.
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
      // That of Node 20 misreads non-ASCII hosts once optimised: parseUrl of request/url.ts does not.
      'no-restricted-properties': ['error', { object: 'URL', property: 'canParse', message: 'use parseUrl' }],
    },
  },
  {
    files: ['src/crawl/**/*.ts'],
    ignores: ['**/*.test.ts', 'src/crawl/time.ts'],
    rules: {
      // Time and chance are passed in, so that tests need neither sleep nor luck.
      'no-restricted-syntax': [
        'error',
        ...[
          'MemberExpression[object.name=/^(Date|performance)$/][property.name="now"]',
          'MemberExpression[object.name="Math"][property.name="random"]',
          'MemberExpression[object.name="AbortSignal"][property.name="timeout"]',
          'NewExpression[callee.name="Date"][arguments.length=0]',
          'Identifier[name=/^(setTimeout|setInterval)$/]',
          'ImportDeclaration[source.value=/^(node:)?timers/]',
        ].map((selector) => ({ selector, message: 'use the Time that was passed in (src/crawl/time.ts)' })),
      ],
    },
  },
  // node:test keeps the promises of its tests itself.
  { files: ['templates/*/test/**'], rules: { '@typescript-eslint/no-floating-promises': 'off' } },
  { files: ['bench/**', 'examples/**', 'templates/**', 'scripts/**', 'src/cli/**'], rules: { 'no-console': 'off' } },
);
