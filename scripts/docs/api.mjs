// The reference of the API: TypeDoc reads the public surface, its markdown becomes pages of this site.
// Settings are in typedoc.json; it does not check types, `npm run typecheck` does.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Entry points of the package, by the folder that TypeDoc names after their files. */
const ENTRIES = {
  index: 'orcrawl',
  'crawlee/entry': 'orcrawl/crawlee',
  testing: 'orcrawl/testing',
  postgres: 'orcrawl/postgres',
};

const HOME = `# API

Everything the package exports, from the types and comments of the source.

- [orcrawl](index/index.md): crawlers, batches, content, storages
- [orcrawl/crawlee](crawlee/entry/index.md): what code written for Crawlee imports
- [orcrawl/testing](testing/index.md): the synthetic web, a proxy, suites for backends
- [orcrawl/postgres](postgres/index.md): queues, datasets and records in PostgreSQL
`;

export async function apiPages(root) {
  const out = mkdtempSync(path.join(tmpdir(), 'orcrawl-api-'));
  try {
    const typedoc = path.join(root, 'node_modules/typedoc/bin/typedoc');
    await run(process.execPath, [typedoc, '--options', path.join(root, 'scripts/docs/typedoc.json'), '--out', out]);
    const files = readdirSync(out, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
    const pages = files
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((file) => apiPage(file, readFileSync(path.join(out, file), 'utf8')));
    return withSiblings(pages);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function apiPage(file, markdown) {
  const isHome = file === 'index.md';
  const text = isHome ? HOME : markdown.replace(/^# ([\w/]+)$/m, (whole, entry) => `# ${ENTRIES[entry] ?? entry}`);
  return {
    source: isHome ? 'api/' : `api/${file}`,
    out: `api/${file.replace(/\.md$/, '.html')}`,
    title: /^# (.+)$/m.exec(text)[1].replace(/\\/g, ''),
    markdown: text,
    kind: 'api',
  };
}

/** The other members of the same kind stand above the navigation. */
function withSiblings(pages) {
  const folderOf = ({ out }) => path.posix.dirname(out);
  return pages.map((page) => {
    const beside = pages.filter((other) => folderOf(other) === folderOf(page) && !other.out.endsWith('/index.html'));
    if (beside.length < 2) return page;
    const kind = path.posix.basename(folderOf(page)).replaceAll('-', ' ');
    const links = beside.map(({ source, out, title }) => ({
      source,
      out,
      title: title.replace(/^[\w ]+: |\(\)$|<.*$/g, ''),
    }));
    return { ...page, siblings: { name: kind[0].toUpperCase() + kind.slice(1), links } };
  });
}
