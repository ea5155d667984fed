// The public surface: a report of it that shows every change, a comment on every export, and examples that compile.
// Reads the types in dist/, as users do.
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
// @ts-expect-error scripts have no types
import { outdated, report } from '../../scripts/api-report.mjs';
// @ts-expect-error scripts have no types
import { readSurface } from '../../scripts/api-surface.mjs';

interface Declaration {
  readonly name: string;
  readonly isValue: boolean;
  readonly comment: string;
  readonly examples: readonly string[];
  readonly file?: string;
}
interface Surface {
  readonly entries: readonly { readonly entry: string; readonly exports: readonly Declaration[] }[];
}

const surface = (readSurface as () => Surface)();
const allExports = surface.entries.flatMap(({ exports }) => exports);

/** What examples take for granted: a handler's context, and things of the reader's own. */
const GIVEN = `
declare const { $, body, request, session, content }: import('orcrawl').CheerioCrawlingContext;
declare const page: import('playwright-core').Page;
declare const crawler: import('orcrawl').WebCrawler & import('orcrawl').CheerioCrawler;
declare const requestQueue: import('orcrawl').RequestQueue;
declare const frontier: import('orcrawl').Frontier;
declare const myStorageClient: import('orcrawl').StorageClient;
declare const myRecords: (id: string) => import('orcrawl').RecordStore;
declare const memoryBackend: import('orcrawl/testing').MakeBackend;
declare const visit: import('orcrawl/testing').NavigationPlacement['visit'];
declare const requestHandler: (context: { request: import('orcrawl').Request }) => Promise<void>;
declare const html: string, url: string, urls: string[], png: Buffer;
declare const assert: typeof import('node:assert').strict;
declare const { describe, it, expect }: typeof import('vitest');
`;

/** The same for those of `orcrawl/crawlee`. */
const GIVEN_OF_CRAWLEE = `
declare const playwright: typeof import('playwright-core');
declare const browserContext: import('playwright-core').BrowserContext;
declare const puppeteer: { launch(options?: Record<string, unknown>): Promise<unknown> };
declare const pool: import('orcrawl/crawlee').BrowserPool;
declare const controller: import('orcrawl/crawlee').PlaywrightController;
declare const snapshotter: import('orcrawl/crawlee').Snapshotter;
declare const store: import('orcrawl/crawlee').SnapshotStore;
declare const requests: import('orcrawl').Request[];
declare class MyPlugin extends (await import('orcrawl/crawlee')).PlaywrightPlugin {}
declare const error: Error, context: import('orcrawl').CheerioCrawlingContext, value: Record<string, unknown>, bytes: Buffer;
declare const stream: import('node:stream').Readable, file: import('node:stream').Writable, glob: string;
declare const { pipeline }: typeof import('node:stream/promises');
declare const { z }: typeof import('zod');
declare const work: (what: unknown) => Promise<void>, slowDown: () => void, todo: unknown[];
declare const requestHandlerTimeoutSecs: number, itemCount: number, concurrency: number;
`;

/** What handlers get and take, how crawlers are set up, and what comes back. */
const OFFERED = [
  ...['CrawlingContext', 'HttpCrawlingContext', 'CheerioCrawlingContext', 'PlaywrightCrawlingContext'],
  ...['AdaptivePlaywrightCrawlingContext', 'FileDownloadCrawlingContext', 'EnqueueLinksOptions'],
  ...['Request', 'RequestOptions', 'Session', 'ProxyInfo', 'SendRequestOptions', 'SentResponse', 'ResponseHead'],
  ...['BasicCrawlerOptions', 'HttpCrawlerOptions', 'CheerioCrawlerOptions', 'PlaywrightCrawlerOptions', 'BasicCrawler'],
  ...[
    'WebCrawlerOptions',
    'BrowserConfig',
    'RunConfig',
    'CrawlResult',
    'PageContent',
    'ExtractedContent',
    'PageMetadata',
  ],
  ...['FinalStatistics', 'Log'],
];

describe('the public surface', () => {
  it('is the one in docs/api-report (npm run build && npm run api-report)', () => {
    expect((outdated as (pages: unknown) => string[])((report as (from: Surface) => unknown)(surface))).toEqual([]);
  });

  it('has a comment on every export', () => {
    expect(allExports.filter(({ comment }) => comment.trim() === '').map(({ name }) => name)).toEqual([]);
  });

  it('has an example for every value', () => {
    const values = allExports.filter(({ isValue }) => isValue);
    expect(values.filter(({ examples }) => examples.length === 0).map(({ name }) => name)).toEqual([]);
  });

  it('has a comment on every member that an editor offers in a handler and for its results', () => {
    const { program, entry } = compiled();
    const checker = program.getTypeChecker();
    const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!);
    const isOurs = (member: ts.Symbol): boolean =>
      member.declarations?.[0]?.getSourceFile().fileName.startsWith(path.dirname(entry)) === true;
    const isHidden = (member: ts.Symbol): boolean =>
      /^__|#/.test(member.name) || member.getJsDocTags(checker).some(({ name }) => name === 'internal');
    const found = exported.filter(({ name }) => OFFERED.includes(name));
    expect(found).toHaveLength(OFFERED.length);
    const silent = found.flatMap((symbol) => {
      const type = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const members = checker.getDeclaredTypeOfSymbol(type).getProperties();
      return members
        .filter((member) => isOurs(member) && !isHidden(member))
        .filter((member) => ts.displayPartsToString(member.getDocumentationComment(checker)).trim() === '')
        .map((member) => `${symbol.name}.${member.name}`);
    });
    expect(silent).toEqual([]);
  });

  it('has examples that compile', () => {
    const { program, examples } = compiled();
    const problems = examples.flatMap((file) => {
      const source = program.getSourceFile(file);
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
        ({ messageText }) => `${path.basename(file)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
      );
    });
    expect(problems).toEqual([]);
  }, 240_000);
});

interface Compiled {
  readonly program: ts.Program;
  /** The library's types. */
  readonly entry: string;
  /** The files of the examples, which are on no disk. */
  readonly examples: readonly string[];
}

let once: Compiled | undefined;

/** The library and all examples in one program: two would each read the types of Node and of orcrawl. */
function compiled(): Compiled {
  if (once) return once;
  const files = new Map<string, string>();
  for (const { entry, exports } of surface.entries) {
    for (const { name, examples, file: declared = '' } of exports) {
      // Examples of other packages are theirs.
      if (declared.includes('/node_modules/')) continue;
      examples.forEach((example, n) => {
        const file = path.resolve('test', `example-${entry.replace('/', '-')}-${name}-${n}.ts`);
        files.set(file, wrapped(example, entry));
      });
    }
  }
  const entry = path.resolve('dist/index.d.ts');
  const examples = [...files.keys()];
  once = { program: programOf([entry, ...examples], files), entry, examples };
  return once;
}

/** An example as a module: what it uses of ours is imported, the rest of it runs in a function. */
function wrapped(example: string, ofEntry: string): string {
  // Where two entries have a name, that of its own entry is meant.
  const entries = [...surface.entries].sort(
    (one, other) => Number(other.entry === ofEntry) - Number(one.entry === ofEntry),
  );
  const own = new Set([...example.matchAll(/\b(?:const|let|class|function)\s+(\w+)/g)].map(([, name]) => name));
  const imports = entries.map(({ entry, exports }, at) => {
    const earlier = new Set(entries.slice(0, at).flatMap((other) => other.exports.map(({ name }) => name)));
    const used = exports.filter(
      ({ name }) => !own.has(name) && !earlier.has(name) && new RegExp(`(?<![.\\w'])${name}\\b`).test(example),
    );
    return `import { ${used.map(({ name, isValue }) => (isValue ? name : `type ${name}`)).join(', ')} } from '${entry}';`;
  });
  const given = ofEntry === 'orcrawl/crawlee' ? GIVEN_OF_CRAWLEE : '';
  const lines = example.split('\n');
  const isImport = (line: string) => /^import .* from '/.test(line);
  const outer = lines.filter((line) => isImport(line) && !/'orcrawl(?:\/testing)?'/.test(line));
  const inner = lines.filter((line) => !isImport(line));
  return [...imports, ...outer, GIVEN, given, 'export async function example() {', ...inner, '}', ''].join('\n');
}

function programOf(roots: readonly string[], files: ReadonlyMap<string, string>): ts.Program {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, ...rest) : ts.createSourceFile(file, text, ts.ScriptTarget.ES2022);
  };
  return ts.createProgram(roots, options, host);
}
