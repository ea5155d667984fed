// Every TypeScript block of the documentation compiles against the public surface in dist/, as a reader would paste it.
// A name of ours that a block does not import is imported for it; what else it takes for granted stands in GIVEN, or
// in a comment `<!-- given … -->` before the block.
import path from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { codeBlocks, documents, ROOT, type CodeBlock } from '../support/documented-code.js';

/** What a fragment may use without saying where it comes from. */
const GIVEN = `
declare global {
  const url: string;
  const urls: string[];
  const html: string;
  const body: Buffer;
}
export {};
`;
const CANNOT_FIND_NAME = new Set([2304, 2552, 18004]);

const settings: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  paths: {
    orcrawl: ['./dist/index.d.ts'],
    'orcrawl/testing': ['./dist/testing/index.d.ts'],
    'orcrawl/postgres': ['./dist/postgres/index.d.ts'],
  },
};

const nameOf = ({ file, line }: CodeBlock): string => path.join(ROOT, `${file.replace(/\.md$/, '')}-${line}.mts`);

/** Compiles texts that lie in no file, beside the real ones. */
function diagnose(
  texts: ReadonlyMap<string, string>,
  old?: ts.Program,
): { program: ts.Program; found: ts.Diagnostic[] } {
  const host = ts.createCompilerHost(settings);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.getSourceFile = (name, ...rest) => {
    const text = texts.get(name);
    return text === undefined
      ? (old?.getSourceFile(name) ?? getSourceFile.call(host, name, ...rest))
      : ts.createSourceFile(name, text, ts.ScriptTarget.ES2022);
  };
  host.getCurrentDirectory = () => ROOT;
  const program = ts.createProgram([...texts.keys()], settings, host, undefined);
  const found = [...texts.keys()].flatMap((name) => {
    const file = program.getSourceFile(name)!;
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  return { program, found };
}

/** The names that an entry point exports, values and types. */
function exportsOf(program: ts.Program, file: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path.join(ROOT, file))!;
  return checker.getExportsOfModule(checker.getSymbolAtLocation(source)!).map(({ name }) => name);
}

it('compiles every TypeScript block of the documentation', { timeout: 300_000 }, () => {
  const blocks = documents().flatMap((file) => codeBlocks(file).filter(({ language }) => language === 'ts'));
  expect(blocks.length).toBeGreaterThan(30);
  const givenFile = path.join(ROOT, 'docs/given.d.mts');
  const textOf = (block: CodeBlock, imports = ''): string => `${imports}${block.given}${block.code}\nexport {};\n`;
  const texts = new Map(blocks.map((block) => [nameOf(block), textOf(block)]));
  texts.set(givenFile, GIVEN);
  const entries = ['orcrawl', 'orcrawl/testing', 'orcrawl/postgres'];
  texts.set(path.join(ROOT, 'docs/surface.mts'), entries.map((name) => `import '${name}';\n`).join(''));

  const first = diagnose(texts);
  const main = new Set(exportsOf(first.program, 'dist/index.d.ts'));
  const testing = new Set(exportsOf(first.program, 'dist/testing/index.d.ts'));
  // Once more, with imports of our names that were missing.
  for (const block of blocks) {
    const missing = new Set(
      first.found
        .filter(({ file, code }) => file?.fileName === nameOf(block) && CANNOT_FIND_NAME.has(code))
        .map(({ file, start, length }) => file!.text.slice(start, start! + length!)),
    );
    const imports = [...missing].flatMap((name) => {
      if (main.has(name)) return [`import { ${name} } from 'orcrawl';`];
      return testing.has(name) ? [`import { ${name} } from 'orcrawl/testing';`] : [];
    });
    texts.set(nameOf(block), textOf(block, imports.join(' ')));
  }
  const { found } = diagnose(texts, first.program);
  const said = found.map(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    if (!file) return text;
    const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
    return `${path.relative(ROOT, file.fileName)}+${line + 1}: ${text}`;
  });
  expect(said).toEqual([]);
});
