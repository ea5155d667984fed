// The scripts in examples/ as pages: what the header says, how to run it, and the code. The tests run all of them.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export function recipePages(root) {
  const folder = path.join(root, 'examples');
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  const pages = scripts.map((name) => recipe(name, readFileSync(path.join(folder, name), 'utf8')));
  const links = pages.map(({ source, out, title }) => ({ source, out, title }));
  const lines = pages.map(({ source, title, about }) => `- [${title}](${path.basename(source)}): ${about}`);
  const markdown = `# Recipes

Whole scripts to start from; the tests run each of them as its page says. A crawl on pods with a handler of its own is [here](pods/).

${lines.join('\n')}
`;
  return [
    { source: 'examples/', out: 'recipes/index.html', title: 'Recipes', markdown, kind: 'generated' },
    ...pages.map((page) => ({ ...page, siblings: { name: 'Recipes', links } })),
    podsRecipe(path.join(folder, 'pods')),
  ];
}

function recipe(name, code) {
  const lines = code.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  const header = lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ''));
  const runsAt = header.findIndex((line) => /^Run\b/.test(line));
  const about = header
    .slice(0, runsAt < 0 ? undefined : runsAt)
    .join(' ')
    .trim();
  const how =
    runsAt < 0
      ? []
      : header
          .slice(runsAt)
          .map((line) => line.replace(/^Run( twice)?: */, '').trim())
          .filter(Boolean);
  const title = titleFrom(name);
  return {
    source: `examples/${name}`,
    out: `recipes/${name.replace(/\.ts$/, '.html')}`,
    title,
    about: about.split(/(?<=[.:]) /)[0].replace(/[.:]$/, '') + '.',
    markdown: `# ${title}\n\n${about}\n\n${how.length === 0 ? '' : `\`\`\`sh\n${how.join('\n')}\n\`\`\`\n\n`}\`\`\`ts\n${lines.slice(end).join('\n').trim()}\n\`\`\`\n`,
    kind: 'generated',
  };
}

function podsRecipe(folder) {
  const part = (name, language) =>
    `## ${name}\n\n\`\`\`${language}\n${readFileSync(path.join(folder, name), 'utf8').trim()}\n\`\`\`\n`;
  const markdown = `# A crawl on pods\n\nThree files: the configuration, the handlers and the seeds.\n\n${part('crawl.yaml', 'yaml')}\n${part('handlers.ts', 'ts')}\n${part('seeds.txt', 'text')}`;
  return { source: 'examples/pods/', out: 'recipes/pods.html', title: 'A crawl on pods', markdown, kind: 'generated' };
}

/** `sessions-and-proxies.ts` → `Sessions and proxies` */
function titleFrom(name) {
  const words = path.basename(name, '.ts').replaceAll('-', ' ');
  return words[0].toUpperCase() + words.slice(1);
}
