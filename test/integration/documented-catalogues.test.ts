// The catalogues that people look things up in: every option and every error code has its line, every path that a page
// names for those who work on the code exists, and so does every test that a promise stands on.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RUN_SHAPE } from '../../src/crawl/batch/run-config.js';
import { PAGE_SHAPE } from '../../src/crawl/browser/page-config.js';
import { SHAPES } from '../../src/crawl/options/options-shapes.js';
import { ERROR_CLASSES } from '../../src/errors.js';

const root = new URL('../../', import.meta.url);
const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('the documentation', () => {
  it('has a line for every option of every crawler', () => {
    const text = page('options.md');
    const names = new Set(Object.values(SHAPES).flatMap((shape) => Object.keys(shape)));
    expect([...names].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('has every option of a run', () => {
    const text = page('batch.md') + page('browser.md');
    const aliases = ['url', 'respectRobotsTxtFile', 'maxRequestRetries'];
    const names = [...Object.keys(RUN_SHAPE), ...Object.keys(PAGE_SHAPE)].filter((name) => !aliases.includes(name));
    expect(names.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
  });

  it('has a line with the right class for every error code, and for no other', () => {
    const documented = [...page('errors.md').matchAll(/^\| `([A-Z_]+)` \| (\w+) \|/gm)].map(([, code, kind]) => [
      code,
      kind,
    ]);
    expect(Object.fromEntries(documented)).toEqual(ERROR_CLASSES);
  });
});

describe('the tree', () => {
  it('has no folder of more than 20 source files', () => {
    const folders = readdirSync(new URL('src/', root), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
      .map(({ parentPath }) => parentPath);
    const counts = new Map<string, number>();
    for (const folder of folders) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    expect(counts.size).toBeGreaterThan(100);
    expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
  });

  it('has every path that CONTRIBUTING.md and docs/lifecycle.md name', () => {
    const text = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8') + page('lifecycle.md');
    const paths = [...text.matchAll(/`((?:src|docs|scripts|templates|test)\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(60);
    // What scripts make is not there before they run.
    expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('has every test that docs/lifecycle.md and docs/pods-failures.md name', () => {
    const folders = ['test/fault/', 'test/integration/', 'test/conformance/'];
    const isThere = (name: string) =>
      (name.startsWith('test/') ? [''] : folders).some((folder) =>
        existsSync(new URL(`${folder}${name.replace(/(?:\.test\.ts)?$/, '.test.ts')}`, root)),
      );
    const cells = ['lifecycle.md', 'pods-failures.md'].flatMap((name) => {
      let hasTests = false;
      return page(name)
        .split('\n')
        .flatMap((line) => {
          if (!line.startsWith('|')) hasTests = false;
          else if (/ test(?: in `test\/fault`)? \|$/.test(line)) hasTests = true;
          else if (hasTests && !line.startsWith('|--')) return [line.split('|').at(-2)!];
          return [];
        });
    });
    expect(cells.length).toBeGreaterThan(25);
    const classes = /^(?:pods|library|batch|browser)\/|^(?:frontier|items)\./;
    for (const cell of cells) {
      const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!).filter((name) => !classes.test(name));
      expect(names.length, cell).toBeGreaterThan(0);
      expect(
        names.filter((name) => !isThere(name)),
        cell,
      ).toEqual([]);
    }
  });
});
