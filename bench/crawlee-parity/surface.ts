// Compares declarations: every exported name of Crawlee's packages, every member of its classes and every option, with
// ours. Prints what is missing here: node --import jiti/register bench/crawlee-parity/surface.ts [--members]
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { installCrawlee, PARTS } from './run.js';

const OURS = fileURLToPath(new URL('../../dist/crawlee/entry.d.ts', import.meta.url));

/** One exported name: what it is, and the members of its instances and of itself. */
interface Exported {
  readonly isValue: boolean;
  readonly kind: string;
  readonly members: ReadonlySet<string>;
  readonly statics: ReadonlySet<string>;
  readonly from: string;
}

export interface SurfaceGap {
  readonly name: string;
  readonly kind: string;
  readonly from: string;
  /** Missing as a whole, or these members and static members of it. */
  readonly isMissing: boolean;
  readonly members: readonly string[];
  readonly statics: readonly string[];
}

/** What Crawlee declares and this build does not. Members that begin with an underscore, or are private, do not count. */
export function compareSurfaces(crawlee: string, ours = OURS): { compared: number; gaps: SurfaceGap[] } {
  const folder = dirname(crawlee);
  const entry = join(folder, 'surface', 'index.ts');
  if (!existsSync(dirname(entry))) mkdirSync(dirname(entry));
  writeFileSync(entry, PARTS.map((part, index) => `import * as p${index} from '@crawlee/${part}';`).join('\n'));
  const program = ts.createProgram([entry, ours], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    skipLibCheck: true,
    strict: true,
  });
  const checker = program.getTypeChecker();
  const theirs = new Map<string, Exported>();
  const source = program.getSourceFile(entry)!;
  for (const [index, statement] of source.statements.entries()) {
    const specifier = (statement as ts.ImportDeclaration).moduleSpecifier;
    const symbol = checker.getSymbolAtLocation(specifier);
    if (!symbol) throw new Error(`no declarations for ${specifier.getText()}`);
    for (const [name, one] of exportsOf(checker, symbol, PARTS[index]!)) if (!theirs.has(name)) theirs.set(name, one);
  }
  const mine = exportsOf(checker, checker.getSymbolAtLocation(program.getSourceFile(ours)!)!, 'orcrawl');
  const gaps: SurfaceGap[] = [];
  for (const [name, { kind, from, isValue, members, statics }] of theirs) {
    const own = mine.get(name);
    const isMissing = !own || (isValue && !own.isValue);
    const missing = isMissing ? [] : [...members].filter((member) => !own.members.has(member));
    const missingStatics = isMissing ? [] : [...statics].filter((member) => !own.statics.has(member));
    if (isMissing || missing.length + missingStatics.length > 0)
      gaps.push({ name, kind, from, isMissing, members: missing, statics: missingStatics });
  }
  return { compared: theirs.size, gaps };
}

function exportsOf(checker: ts.TypeChecker, module: ts.Symbol, from: string): Map<string, Exported> {
  const found = new Map<string, Exported>();
  for (const exported of checker.getExportsOfModule(module)) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0;
    const declared = symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias);
    const members = declared ? membersOf(checker, checker.getDeclaredTypeOfSymbol(symbol)) : new Set<string>();
    const statics = isValue ? membersOf(checker, checker.getTypeOfSymbol(symbol)) : new Set<string>();
    found.set(exported.name, { isValue, kind: kindOf(symbol), members, statics, from });
  }
  return found;
}

function membersOf(checker: ts.TypeChecker, type: ts.Type): Set<string> {
  if (type.isUnion() || type.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.Any))
    return new Set();
  return new Set(
    checker
      .getPropertiesOfType(type)
      .filter((property) => !isHidden(property))
      .map(({ name }) => name),
  );
}

const HIDDEN = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;

function isHidden(property: ts.Symbol): boolean {
  if (property.name.startsWith('_') || property.name.startsWith('#') || property.name === 'prototype') return true;
  return (property.declarations ?? []).some((one) => {
    if (one.getSourceFile().fileName.includes('/typescript/lib/')) return true;
    return (ts.getCombinedModifierFlags(one) & HIDDEN) !== 0;
  });
}

function kindOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Enum) return 'enum';
  if (flags & ts.SymbolFlags.Variable) return 'value';
  if (flags & ts.SymbolFlags.Namespace) return 'namespace';
  return flags & ts.SymbolFlags.Interface ? 'interface' : 'type';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { compared, gaps } = compareSurfaces(process.env['CRAWLEE'] ?? installCrawlee());
  const missing = gaps.filter(({ isMissing }) => isMissing);
  console.log(
    `${compared} names compared; ${missing.length} missing, ${gaps.length - missing.length} with other members`,
  );
  for (const { name, kind, from } of missing) console.log(`missing ${kind} ${name} (${from})`);
  for (const { name, kind, members, statics, isMissing } of gaps)
    if (!isMissing)
      console.log(`${kind} ${name}: ${[...members, ...statics.map((one) => `static ${one}`)].join(', ')}`);
}
