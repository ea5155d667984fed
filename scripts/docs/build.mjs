// `npm run docs`: builds the documentation site into site/, as plain files that also open from the disk.
// Promise: every link, anchor and image leads somewhere, or the build fails.
// `--quick` leaves the API out; `--out DIR` writes elsewhere.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiPages } from './api.mjs';
import { commandPages } from './commands.mjs';
import { figuresPage } from './figures.mjs';
import { createHighlighter } from './highlight.mjs';
import { renderPage } from './layout.mjs';
import { deadLinks } from './links.mjs';
import { createRenderer } from './markdown.mjs';
import { navigationOf } from './navigation.mjs';
import { updateReadme } from './readme.mjs';
import { recipePages } from './recipes.mjs';
import { searchIndexOf } from './search.mjs';
import { sourcePages } from './sources.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/** Builds the site and returns what is wrong with it, one line per problem. */
export async function buildSite({ out = path.join(root, 'site'), quick = false } = {}) {
  const written = sourcePages(root);
  const pages = [
    ...written,
    ...recipePages(root),
    ...(await commandPages(root)),
    figuresPage(root),
    ...(quick ? [] : await apiPages(root)),
  ];
  const { sections, problems } = navigationOf(pages, { quick });
  const highlighter = await createHighlighter();
  const renderer = createRenderer({ root, pages, highlighter, report: (problem) => problems.push(problem) });

  rmSync(out, { recursive: true, force: true });
  mkdirSync(path.join(out, 'assets'), { recursive: true });
  const rendered = pages.map((page) => ({ page, ...renderer.render(page) }));
  for (const { page, ...body } of rendered) write(out, page.out, renderPage({ page, sections, ...body }));
  for (const image of renderer.images) copy(path.join(root, image), path.join(out, 'assets', path.basename(image)));
  copy(path.join(here, 'site.js'), path.join(out, 'assets/site.js'));
  copy(path.join(root, 'node_modules/minisearch/dist/umd/index.js'), path.join(out, 'assets/minisearch.js'));
  write(out, 'assets/site.css', readFileSync(path.join(here, 'site.css'), 'utf8') + highlighter.css());
  write(out, 'assets/search-index.js', searchIndexOf(rendered));
  problems.push(...deadLinks(out));
  return { out, pages: pages.length, problems };
}

function write(out, file, text) {
  const whole = path.join(out, file);
  mkdirSync(path.dirname(whole), { recursive: true });
  writeFileSync(whole, text);
}

function copy(from, to) {
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(from, to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  updateReadme(root);
  const args = process.argv.slice(2);
  const outAt = args.indexOf('--out');
  const out = outAt < 0 ? undefined : path.resolve(args[outAt + 1]);
  const { out: written, pages, problems } = await buildSite({ out, quick: args.includes('--quick') });
  for (const problem of problems) console.error(`error: ${problem}`);
  if (problems.length === 0) console.log(`${pages} pages. Open ${path.join(written, 'index.html')}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
