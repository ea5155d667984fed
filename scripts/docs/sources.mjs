// The pages that people write: docs/**/*.md and the markdown files of the repository that they link to.
// A page is { source, out, title, markdown, kind }: the file it comes from, and its place in the site.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Files outside docs/, and their place in the site. README.md is the home page. */
const OTHERS = {
  'README.md': 'index.html',
  'CONTRIBUTING.md': 'contributing.html',
  'CHANGELOG.md': 'changes.html',
  'SECURITY.md': 'security.html',
  'bench/RESULTS.md': 'results.html',
  'bench/EXTRACTION.md': 'extraction.html',
};

export function sourcePages(root) {
  const inDocs = readdirSync(path.join(root, 'docs'), { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md') && !file.startsWith('api-report/'))
    .map((file) => [`docs/${file}`, file.replace(/\.md$/, '.html')]);
  const pages = [...inDocs, ...Object.entries(OTHERS)].map(([source, out]) => {
    const markdown = readFileSync(path.join(root, source), 'utf8');
    return { source, out, title: titleOf(markdown), markdown, kind: 'written' };
  });
  return [...pages, decisionsPage(pages)];
}

/** The text of the first heading. */
export function titleOf(markdown) {
  return /^# (.+)$/m.exec(markdown)?.[1].replaceAll('`', '').trim() ?? 'Untitled';
}

/** docs/decisions as a page: links to the folder lead here. */
function decisionsPage(pages) {
  const decisions = pages.filter(({ source }) => source.startsWith('docs/decisions/'));
  decisions.sort((a, b) => a.source.localeCompare(b.source));
  const lines = decisions.map(({ source, title }) => `- [${title}](${path.basename(source)})`);
  const markdown = `# Decisions\n\nWhy things are as they are, each with the measurement behind it.\n\n${lines.join('\n')}\n`;
  return { source: 'docs/decisions/', out: 'decisions/index.html', title: 'Decisions', markdown, kind: 'generated' };
}
