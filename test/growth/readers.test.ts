// A new reader is in the growth suite by construction: every export of the folders that read untrusted bytes is reached
// by one of the suite's readers, or stands here with the reason why it need not be.
import { readdirSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { givenTo, weightOf } from './judge.js';
import type { HostileText } from './texts.js';

const src = fileURLToPath(new URL('../../src/', import.meta.url));

/**
 * Where bytes of strangers are read: of pages, of others' servers, and of clients of the API. The configuration of pods,
 * flags and seeds are the user's own.
 */
const ROOMS = [
  'base/json-depth.ts',
  'crawl/map/rank.ts',
  'crawl/navigate/cache-headers.ts',
  'crawl/navigate/content-type.ts',
  'crawl/navigate/rendering.ts',
  'crawl/order/enough.ts',
  'crawl/order/query.ts',
  'crawl/order/scorers.ts',
  'crawl/page',
  'crawl/polite/nofollow.ts',
  'documents/format.ts',
  'documents/formats',
  'documents/parts',
  'documents/pdf',
  'extract',
  'fetch/http/body/body.ts',
  'fetch/http/guard.ts',
  'fetch/http/headers.ts',
  'fetch/http/redirect.ts',
  'fresh/change',
  'fresh/duplicates/simhash.ts',
  'fresh/duplicates/site-copies.ts',
  'fresh/hints',
  'fresh/memory/names-row.ts',
  'handle',
  'parse',
  'politeness/robots',
  'politeness/sitemaps',
  'politeness/traps',
  'politeness/url-host.ts',
  'request',
  'serve/absent.ts',
  'serve/http/body.ts',
  'serve/http/gate.ts',
  'serve/jobs/link-rules.ts',
  'serve/jobs/rows.ts',
  'serve/mcp/results.ts',
  'serve/mcp/visible.ts',
  'serve/monitor/cron.ts',
  'serve/monitor/schedule.ts',
  'serve/pages/ads.ts',
  'serve/pages/document.ts',
  'serve/pages/formats.ts',
  'serve/pages/inline-images.ts',
  'serve/targets.ts',
  'session/cookie-file.ts',
  'session/cookies.ts',
  'store/content/cdxj.ts',
  'store/content/warc-reading.ts',
];

/** Exported from those rooms, and none of their business: the reason stands before each. */
const READ_NOTHING: Readonly<Record<string, readonly string[]>> = {
  'put handlers, contexts and lists together; what they pass on is read elsewhere': [
    'crawl/page/enqueue-links.ts',
    'crawl/page/page-context.ts',
    'handle/router.ts',
    'handle/toolbox.ts',
    'handle/url-lists.ts#createListDownloader',
    'handle/enqueue-links.ts#checkEnqueueLinksOptions',
    'request/found.ts',
    'request/request.ts#validateRequestOptions',
    'request/record-to-retry.ts',
    'crawl/page/extraction.ts#documentExtraction',
  ],
  'read the weights and tables that we ship, once': [
    'extract/model/names.ts#unpackNames',
    'extract/model/trees.ts#unpackModels',
    'extract/model/weights.ts',
    'parse/tokens/entity-file.ts',
  ],
  'inflates, through zlib and its limit, what parseRecord reads': ['store/content/warc-reading.ts#readGzippedRecord'],
  'write the page around what was read, or count bytes: formats.test.ts, documents-processes.test.ts': [
    'documents/parts/html.ts#pageOf',
    'documents/parts/buffer-limit.ts',
    'documents/format.ts#isTextual',
  ],
  'open a file by pdf.js, in a process with limits of time and memory: documents-processes.test.ts, documents-pdf.test.ts':
    ['documents/pdf/pdf.ts#readPdf', 'documents/pdf/source.ts#openPdf'],
  'read numbers or dates that we made': [
    'fresh/hints/trust.ts#readCounts',
    'fresh/duplicates/simhash.ts#onesIn',
    'request/fingerprint.ts#fingerprintFromId',
    'request/fingerprint.ts#fingerprintToId',
    'store/content/cdxj.ts#timestampOf',
  ],
  'decide by what is known of a host, by robots.txt only through RobotsTxt': ['politeness/robots/cache.ts'],
  'inflate, asynchronously, through zlib and its limits: body.test.ts': [
    'fetch/http/body/body.ts#decodeBody',
    'fetch/http/body/body.ts#hasZlibHeader',
    'fetch/http/body/body.ts#lendBody',
  ],
  'are streams around the reader of sitemaps: sitemaps.test.ts': [
    'politeness/sitemaps/text.ts',
    'politeness/sitemaps/walk.ts',
  ],
  'read streams, and count as they go: serve-scrape.test.ts': [
    'serve/http/body.ts#readBody',
    'serve/http/body.ts#readLines',
  ],
  'looks at options that passed their schema': ['serve/pages/formats.ts#needsBrowser'],
  'check what the user gave, by the user’s own schema': ['handle/user-data-schema.ts'],
  'reads what the user gave for a URL': ['fetch/http/headers.ts#basicCredentials', 'request/proxy-url.ts'],
  'decodes what only such bytes have: encoding.test.ts': [
    'parse/encoding/euc-kr.ts#decodeEucKr',
    'parse/encoding/labels.ts#decodeLegacy',
    'parse/encoding/windows-1252.ts',
  ],
};

function modules(path: string): string[] {
  const full = join(src, path);
  if (path.endsWith('.ts')) return [full];
  return readdirSync(full, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? modules(join(path, entry.name))
      : entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts')
        ? [join(full, entry.name)]
        : [],
  );
}

/** A class without a constructor of its own is reached by its methods. */
function methodsOf(value: { prototype?: unknown }): string[] {
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  return isClass ? Object.getOwnPropertyNames(value.prototype).filter((name) => name !== 'constructor') : [];
}

it('reaches every exported function of the rooms that read what strangers wrote', { timeout: 300_000 }, async () => {
  // From before the modules are loaded: some functions make tables then, and are not called again.
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const exported: { name: string; file: string; functionNames: string[] }[] = [];
  for (const file of ROOMS.flatMap(modules)) {
    const found = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(found)) {
      if (typeof value !== 'function') continue;
      exported.push({
        name: `${relative(src, file)}#${name}`,
        file,
        functionNames: [value.name || name, ...methodsOf(value)],
      });
    }
  }
  expect(exported.length).toBeGreaterThan(100);

  const { READERS } = await import('./readers.js');
  const { INPUTS } = await import('./inputs.js');
  const { MIXED_PAGES } = await import('./pages.js');
  for (const reader of READERS) {
    const { of, name } = reader;
    const attempt = (input: HostileText, length: number): void => {
      try {
        weightOf(reader.read(givenTo(reader, input.make(length))));
      } catch {
        // A refusal reaches as much as it reaches.
      }
    };
    // A few of each kind, short ones: what is reached matters here, not how fast.
    const inputs = INPUTS[of];
    for (let at = 0; at < inputs.length; at += Math.max(1, Math.floor(inputs.length / 60))) attempt(inputs[at]!, 600);
    if (/extractContent|documentOf/.test(name)) for (const input of MIXED_PAGES) attempt(input, 4_000);
  }
  const { result } = (await session.post('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType;
  session.disconnect();
  const reached = new Set<string>();
  for (const { url, functions } of result) {
    for (const { functionName, ranges } of functions) {
      if (ranges[0]!.count > 0) reached.add(`${url.replace(/^file:\/\//, '').split('?')[0]} ${functionName}`);
    }
  }
  const excused = new Set(Object.values(READ_NOTHING).flat());
  const missed = exported.filter(
    ({ name, file, functionNames }) =>
      !functionNames.some((one) => reached.has(`${file} ${one}`)) &&
      !excused.has(name) &&
      !excused.has(name.split('#')[0]!),
  );
  expect(missed.map(({ name }) => name)).toEqual([]);
});
