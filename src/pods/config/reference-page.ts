// The reference page of all keys (docs/pods-keys.md), made from key-reference.ts.
// Promise: a test compares the page with what this makes: `npm run docs:keys` writes it again.
import { KEY_GROUPS, keyRows, type KeyGroup } from './key-reference.js';

const HEAD = `# Keys of a pods configuration

Every key of the YAML file of \`orcrawl run --config FILE\`. Keys may also be written in camelCase; \`null\` means the default. Relative paths start at the folder of the file. Command-line flags override the file ([pods.md](pods.md)).

\`orcrawl config init\` writes a commented file with all of them. \`orcrawl config check FILE\` prints what a run would do, and which of your keys have no effect with the others.

<!-- Made from src/pods/config/key-reference.ts by \`npm run docs:keys\`. Do not edit. -->
`;

export function referencePage(): string {
  const rows = keyRows();
  const parts = (Object.keys(KEY_GROUPS) as KeyGroup[]).map((group) => {
    const lines = rows
      .filter((row) => row.group === group)
      .map(({ key, type, defaultText, says, idle }) => {
        const needs = idle === undefined ? '' : ' *May have no effect with other settings: see `config check`.*';
        return `| \`${key}\` | ${cell(type)} | ${cell(defaultText)} | ${cell(says)}${needs} |`;
      });
    return [`\n## ${KEY_GROUPS[group]}\n`, '| key | value | default | meaning |', '|---|---|---|---|', ...lines].join(
      '\n',
    );
  });
  return `${HEAD}${parts.join('\n')}\n`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
