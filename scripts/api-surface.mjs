// Reads the public surface from the types in dist/: every export, its signature, its comment, and what it refers to.
// Used by scripts/api-report.mjs and by the test that asks for comments and true examples.
import path from 'node:path';
import ts from 'typescript';

/** The entries of the package, by the name users import. */
export const ENTRIES = {
  orcrawl: 'dist/index.d.ts',
  'orcrawl/crawlee': 'dist/crawlee/entry.d.ts',
  'orcrawl/testing': 'dist/testing/index.d.ts',
  'orcrawl/postgres': 'dist/postgres/index.d.ts',
};

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

/** One export, or a declaration that exports refer to. */
function describe(name, symbol, checker, exported = symbol) {
  const declarations = symbol.declarations ?? [];
  // A module (`export * as name`) is described where it is exported.
  const statement = declarations.some(ts.isSourceFile) ? exported.declarations[0].parent : undefined;
  if (statement) {
    const [doc] = statement.jsDoc ?? [];
    const examples = (doc?.tags ?? []).filter(({ tagName }) => tagName.text === 'example');
    return {
      name,
      isValue: true,
      comment: ts.getTextOfJSDocComment(doc?.comment) ?? '',
      examples: examples.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? ''),
      signature: `export * as ${name}`,
      file: statement.getSourceFile().fileName,
    };
  }
  const tags = symbol.getJsDocTags(checker);
  return {
    name,
    isValue: (symbol.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(exported),
    comment: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    examples: tags.filter(({ name: tag }) => tag === 'example').map(({ text }) => ts.displayPartsToString(text)),
    signature: declarations.map(signatureOf).join('\n'),
    file: declarations[0]?.getSourceFile().fileName,
  };
}

/** `export type { A }` of a class: nobody can call it. */
const isTypeOnly = ({ declarations = [] }) => declarations.some((one) => ts.isTypeOnlyExportDeclaration(one));

function signatureOf(declaration) {
  // `const a: T` is a part of a statement.
  return textOf(ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration);
}

/** Members that users cannot or shall not use. */
const isHidden = (node) =>
  ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal') ||
  (ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)) ||
  (ts.isPropertyDeclaration(node) && ts.isPrivateIdentifier(node.name));

const withoutHidden = (context) => {
  const visit = (node) => (isHidden(node) ? undefined : ts.visitEachChild(node, visit, context));
  return (node) => ts.visitNode(node, visit);
};

function textOf(node) {
  const { transformed } = ts.transform(node, [withoutHidden]);
  const text = printer.printNode(ts.EmitHint.Unspecified, transformed[0], node.getSourceFile());
  // Where a type is declared is not part of it.
  return text.replace(/import\("[^"]*"\)\./g, '');
}

/** The symbols that a declaration names. */
function* namesIn(node, checker) {
  if (isHidden(node)) return;
  if (ts.isIdentifier(node)) {
    const symbol = checker.getSymbolAtLocation(node);
    if (symbol) yield symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }
  for (const child of node.getChildren()) yield* namesIn(child, checker);
}

const isTopLevel = ({ parent }) =>
  ts.isSourceFile(parent) || (ts.isVariableDeclarationList(parent) && ts.isSourceFile(parent.parent.parent));

/** Each entry with its exports and the declarations of ours that they refer to without exporting them. */
export function readSurface(root = process.cwd()) {
  const files = Object.values(ENTRIES).map((file) => path.join(root, file));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
    skipLibCheck: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const dist = path.join(root, 'dist') + path.sep;
  const exportedAnywhere = new Set();
  const entries = Object.entries(ENTRIES).map(([entry], index) => {
    const source = program.getSourceFile(files[index]);
    if (!source) throw new Error(`${files[index]} is missing: run npm run build first`);
    const exports = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map((symbol) => ({
      name: symbol.name,
      exported: symbol,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }));
    for (const { symbol } of exports) exportedAnywhere.add(symbol);
    return { entry, exports };
  });
  const referred = new Set();
  const queue = [...exportedAnywhere];
  for (let symbol = queue.pop(); symbol; symbol = queue.pop()) {
    for (const declaration of symbol.declarations ?? []) {
      for (const named of namesIn(declaration, checker)) {
        const [first] = named.declarations ?? [];
        const isOurs = first && first.getSourceFile().fileName.startsWith(dist) && first.parent && isTopLevel(first);
        if (!isOurs || exportedAnywhere.has(named) || referred.has(named)) continue;
        referred.add(named);
        queue.push(named);
      }
    }
  }
  const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return {
    entries: entries.map(({ entry, exports }) => ({
      entry,
      exports: exports.map(({ name, symbol, exported }) => describe(name, symbol, checker, exported)).sort(byName),
    })),
    referred: [...referred].map((symbol) => describe(symbol.name, symbol, checker)).sort(byName),
  };
}
