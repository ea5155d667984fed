// The reference of the command line: what each command prints with --help, as tables.
// Promise: nothing here is written by hand, so the page cannot disagree with the program.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** What the program and each command print with --help, a command before those below it. In this process: there are forty. */
export async function commandHelps(root) {
  const built = pathToFileURL(path.join(root, 'dist/cli/command-line.js'));
  const { runCommandLine } = await import(built.href);
  const help = async (...words) => {
    const { write } = process.stdout;
    let text = '';
    process.stdout.write = (part) => {
      text += part;
      return true;
    };
    try {
      const code = await runCommandLine([...words, '--help']);
      if (code !== 0) throw new Error(`orcrawl ${words.join(' ')} --help ended with ${code}`);
    } finally {
      process.stdout.write = write;
    }
    return { name: words.join(' '), text };
  };
  const top = await help();
  const helps = [top];
  for (const name of commandsOf(parseHelp(top.text))) {
    const one = await help(name);
    helps.push(one);
    for (const sub of commandsOf(parseHelp(one.text))) helps.push(await help(name, sub));
  }
  return helps;
}

export async function commandPages(root) {
  const [{ parsed: top }, ...helps] = (await commandHelps(root)).map(({ name, text }) => ({
    name,
    parsed: parseHelp(text),
  }));
  const pages = helps
    .filter(({ name }) => !name.includes(' '))
    .map(({ name, parsed }) =>
      page(
        name,
        parsed,
        helps.filter((one) => one.name.startsWith(`${name} `)),
      ),
    );
  const lines = pages.map(({ title, summary, source }) => `| [\`${title}\`](${path.basename(source)}) | ${summary} |`);
  const markdown = `# Command line

\`orcrawl COMMAND --help\` prints the same in a terminal. In a clone, write \`npm start --\` instead of \`orcrawl\`.

| Command | |
|---|---|
${lines.join('\n')}
${bodyOf({ ...top, sections: top.sections.filter(({ name }) => !GROUPS.test(name) && name !== 'Usage'), usage: top.usage, about: [] })}`;
  const links = pages.map(({ source, out, title }) => ({ source, out, title: title.replace('orcrawl ', '') }));
  const siblings = { name: 'Commands', links };
  return [
    { source: 'commands/', out: 'commands/index.html', title: 'Command line', markdown, kind: 'generated' },
    ...pages.map((one) => ({ ...one, siblings })),
  ];
}

function page(name, parsed, inner) {
  const parts = inner.map((one) => `\n## ${one.name}\n\n${bodyOf(one.parsed, 3)}`);
  return {
    source: `commands/${name}.md`,
    out: `commands/${name}.html`,
    title: `orcrawl ${name}`,
    summary: cell(parsed.about.join(' ')),
    markdown: `# orcrawl ${name}\n\n${bodyOf(parsed)}${parts.join('')}`,
    kind: 'generated',
  };
}

/** The groups of commands in the help of the program and of a command. */
const GROUPS = /^(?:Pages|Services|Pods|To try it out)$|commands?$/i;

const commandsOf = ({ sections }) =>
  sections
    .filter(({ name }) => GROUPS.test(name))
    .flatMap(({ rows }) => rows.map(({ term }) => term.split(/[ |]/)[0]))
    .filter((name) => name !== 'help');

/** Commander's help: a usage line, a description, sections of two columns, and free text after them. */
export function parseHelp(text) {
  const [usage = '', ...lines] = text.trimEnd().split('\n');
  const about = [];
  const sections = [];
  let section;
  for (const line of lines) {
    const title = /^(\S.*):$/.exec(line)?.[1];
    if (title !== undefined) sections.push((section = { name: title, rows: [], lines: [] }));
    else if (section === undefined) about.push(line);
    // Text at the margin ends a section.
    else if (/^\S/.test(line)) sections.push((section = { name: '', rows: [], lines: [line] }));
    else section.lines.push(line);
  }
  for (const one of sections) one.rows = rowsOf(one.lines);
  return { usage: usage.replace(/^Usage: /, ''), about: about.map((line) => line.trim()).filter(Boolean), sections };
}

/** `  term   description`, wrapped descriptions indented; examples (`$ …`) and free text give no rows. */
function rowsOf(lines) {
  const rows = [];
  for (const line of lines) {
    if (line.trim() === '') continue;
    if (/^ {2}\$ /.test(line)) return [];
    const start = /^ {2}(\S(?:.*?\S)?)(?: {2,}(\S.*))?$/.exec(line);
    if (start) rows.push({ term: start[1], about: start[2] ?? '' });
    else if (/^ {3,}\S/.test(line) && rows.length > 0) rows.at(-1).about = `${rows.at(-1).about} ${line.trim()}`.trim();
    else return [];
  }
  return rows;
}

function bodyOf({ usage, about, sections }, level = 2) {
  const heading = '#'.repeat(level);
  const parts = [`${paragraphs(about)}\n\n\`\`\`sh\n${usage}\n\`\`\`\n`];
  for (const { name, rows, lines } of sections) {
    if (name !== '') parts.push(`\n${heading} ${name}\n`);
    if (rows.length > 0) parts.push(`\n| | |\n|---|---|\n${rows.map(row).join('\n')}\n`);
    else if (/^examples?$/i.test(name)) parts.push(`\n\`\`\`sh\n${examples(lines)}\n\`\`\`\n`);
    else parts.push(`\n${paragraphs(lines.map((line) => line.trim()))}\n`);
  }
  return parts.join('');
}

const row = ({ term, about }) => `| \`${term.replaceAll('|', '\\|')}\` | ${cell(about)} |`;
const cell = (text) => escapeMarkdown(text).replaceAll('|', '\\|');
const paragraphs = (lines) => escapeMarkdown(lines.filter(Boolean).join(' '));
const examples = (lines) =>
  lines
    .filter((line) => line.trim() !== '')
    .map((line) =>
      line
        .trim()
        .replace(/^\$ /, '')
        .replace(/ {3,}(\S.*)$/, '   # $1'),
    )
    .join('\n');

/** Help is text for a terminal: what markdown would read as markup is meant as it stands. */
const escapeMarkdown = (text) => text.replace(/[\\`*_<>[\]]/g, '\\$&');
