// `orcrawl export`: the items of a crawl, or the metadata of its pages, as one file in any format for data.
// Promise: the file appears complete or not at all; memory does not grow with the crawl.
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { throughDraft } from '../../base/whole-file.js';
import type { ExportFormat } from '../../store/dataset/export.js';
import { DATASETS_FOLDER } from '../../store/disk.js';
import { extensionOfFormat, formatHelp, formatsOf, isTypedFormat } from '../../store/formats.js';
import { asStorageError } from '../../store/storage-errors.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { complain, say, shown } from '../terminal.js';

interface ExportFlags {
  readonly out?: string;
  readonly format?: ExportFormat;
  readonly dataset: string;
  readonly pages?: boolean;
  readonly fields?: readonly string[];
  readonly rawCsv?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl export ./orcrawl-out/example.com --out pages.parquet
  $ orcrawl export ./storage --dataset products --out products.parquet
  $ orcrawl export /mnt/ssd1/crawl /mnt/ssd2/crawl --out items.parquet      items of a crawl on pods
  $ orcrawl export s3://my-bucket/crawl-7 /mnt/ssd1/crawl --out items.parquet   with datasets: s3://my-bucket/crawl-7
  $ orcrawl export /mnt/ssd1/crawl /mnt/ssd2/crawl --pages --out pages.parquet
  $ orcrawl export ./storage --format csv --fields name,price | head
  $ duckdb -c "select kind, status_code, count(*) from 'pages.parquet' group by all"
`;

export function addExportCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('export')
    .summary('write the items of a crawl, or the metadata of its pages, as one file')
    .description(
      'Writes the items of a dataset as one file. With --pages, a row for everything that the indexes of a crawl on ' +
        'pods know: each stored text and response, and each URL that failed or was skipped.',
    )
    .argument(
      '<DIR...>',
      "a crawl's folder, a storage folder, the data directories of a crawl on pods, or s3:// addresses of its items",
    )
    .option('-o, --out <FILE>', 'the file (default: standard output)')
    .addOption(
      new Option(
        '-f, --format <F>',
        `format (default: by the extension of --out, else jsonl). ${formatHelp('export')}`,
      ).choices(formatsOf('export')),
    )
    .option('--dataset <NAME>', 'name of the dataset', 'default')
    .option('--pages', 'the metadata of pages instead of items')
    .option('--fields <LIST>', 'only these fields, separated by commas', fieldList)
    .option('--raw-csv', 'with --format csv: do not escape cells that a spreadsheet would run as a formula')
    .addHelpText('after', EXAMPLES)
    .action(async (dirs: string[], flags: ExportFlags) => onExit(await exportAll(dirs, flags)));
}

function fieldList(text: string): string[] {
  const fields = text.split(',').map((name) => name.trim());
  if (fields.includes('')) throw new InvalidArgumentError('Expected names separated by commas.');
  return fields;
}

async function exportAll(dirs: readonly string[], flags: ExportFlags): Promise<number> {
  const { out } = flags;
  const format = formatOf(flags);
  if (out === undefined && isTypedFormat(format) && process.stdout.isTTY)
    throw new UsageError(`--format ${format} is not text: give it a file with --out`);
  const pieces = Readable.from(await piecesOf(dirs, format, flags), { objectMode: false });
  if (out === undefined) {
    // A reader that has enough ends it: nothing is wrong then.
    await pipeline(pieces, process.stdout, { end: false }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    });
    return EXIT.done;
  }
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await mkdir(path.dirname(out), { recursive: true });
    await throughDraft(out, (draft) => pipeline(pieces, createWriteStream(draft), { signal: stopped.signal }));
  } catch (error) {
    if (stopped.signal.aborted) return EXIT.interrupted;
    throw asStorageError(error, out, 'choose another file with --out');
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  say(`${out}: ${(await stat(out)).size} bytes`);
  return EXIT.done;
}

function formatOf({ format, out }: ExportFlags): ExportFormat {
  if (format !== undefined) return format;
  if (out === undefined) return 'jsonl';
  const extension = path.extname(out).slice(1).toLowerCase();
  const found = formatsOf('export').find((name) => extensionOfFormat(name) === extension);
  if (found !== undefined) return found;
  const known = formatsOf('export').map((name) => `.${extensionOfFormat(name)}`);
  throw new UsageError(`--out ${shown(out)} does not tell the format: end it in ${known.join(', ')}, or give --format`);
}

async function piecesOf(dirs: readonly string[], format: ExportFormat, { pages, ...flags }: ExportFlags) {
  const { exportPieces } = await import('../../store/dataset/export.js');
  const fields = flags.fields && [...flags.fields];
  const options = { fields, rawCells: flags.rawCsv, collectAllKeys: true };
  if (pages) {
    const { PAGE_COLUMNS, pageRows } = await import('../../store/content/page-rows.js');
    const { itemView } = await import('../../store/dataset/item-view.js');
    const known = new Map(PAGE_COLUMNS.map((column) => [column.name, column]));
    const unknown = fields?.find((name) => !known.has(name));
    if (unknown !== undefined)
      throw new UsageError(`pages have no field ${shown(unknown)}: choose from ${[...known.keys()].join(', ')}`);
    const table = fields?.map((name) => known.get(name)!) ?? PAGE_COLUMNS;
    const view = itemView({ fields });
    const rows = async function* () {
      for await (const batch of pageRows(dirs, (message) => complain(shown(message, 2_000)))) {
        yield view === undefined ? batch : batch.map((row) => view(row)!);
      }
    };
    return exportPieces(format, rows, { ...options, collectAllKeys: false }, table);
  }
  const { places, close } = await itemPlaces(dirs, flags.dataset);
  const { itemsIn } = await import('../../store/dataset/many-folders.js');
  return closingAfter(
    exportPieces(format, () => itemsIn(places, { fields }), options),
    close,
  );
}

/** Object stores first: what is there counts from there. */
async function itemPlaces(dirs: readonly string[], dataset: string) {
  const [{ createDiskSegments }, { objectSegments }, { isObjectUrl, openObjects }] = await Promise.all([
    import('../../store/dataset/disk-segments.js'),
    import('../../store/dataset/many-folders.js'),
    import('../../store/content/remote/objects.js'),
  ]);
  const addresses = dirs.filter(isObjectUrl);
  const folders = dirs.filter((dir) => !isObjectUrl(dir)).map((dir) => path.join(dir, DATASETS_FOLDER, dataset));
  const opened = await Promise.all(addresses.map((url) => openObjects(url)));
  const stores = opened.map((objects) => objectSegments(objects, dataset));
  const isThere = (await Promise.all(stores.map((store) => store.list()))).some((segments) => segments.length > 0);
  if (!isThere && !folders.some((folder) => existsSync(folder))) throw new UsageError(await noDataset(dirs, dataset));
  const close = () => opened.forEach((objects) => objects.close());
  return { places: [...stores, ...folders.map(createDiskSegments)], close };
}

async function* closingAfter<Piece>(pieces: AsyncIterable<Piece>, close: () => void): AsyncGenerator<Piece> {
  try {
    yield* pieces;
  } finally {
    close();
  }
}

async function noDataset(dirs: readonly string[], dataset: string): Promise<string> {
  const there = new Set<string>();
  for (const dir of dirs) {
    for (const name of await readdir(path.join(dir, DATASETS_FOLDER)).catch(() => [])) there.add(name);
  }
  const where = dirs.map((dir) => shown(dir)).join(', ');
  if (there.size > 0)
    return `no dataset ${shown(dataset)} in ${where}: choose with --dataset ${[...there].map((name) => shown(name)).join(', ')}`;
  return `no datasets in ${where}: give the folder of a crawl, or --pages for pages of a crawl on pods`;
}
