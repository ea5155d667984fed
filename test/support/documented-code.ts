// The code blocks of our documentation, as tests read them.
// A block is fenced with three backticks; the words after its language say how it is used.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

export interface CodeBlock {
  /** The file, from the root of the repository. */
  readonly file: string;
  /** The line of its first fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** What follows the language, such as `other-terminal`. */
  readonly use: string;
  readonly code: string;
  /** What the comment `<!-- given … -->` before it declares for the type checker. */
  readonly given: string;
}

const FENCE = /^ *```(\w*) *([\w-]*)[^\n]*\n([\s\S]*?)^ *```$/gm;
const GIVEN = /<!-- given\n((?:(?!-->)[\s\S])*)-->\s*$/;

export function codeBlocks(file: string): CodeBlock[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(FENCE)].map(({ 1: language, 2: use, 3: code, index }) => {
    const before = text.slice(0, index);
    return {
      file,
      line: before.split('\n').length,
      language: language!,
      use: use!,
      code: code!,
      given: GIVEN.exec(before)?.[1] ?? '',
    };
  });
}

/** Every markdown file that people read. */
export function documents(): string[] {
  const inDocs = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md') && !name.startsWith('docs/api-report/'));
  return [...inDocs, 'README.md', 'CONTRIBUTING.md'].sort();
}
