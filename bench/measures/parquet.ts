// A dataset of a million items as Parquet: what it costs, and that DuckDB reads the same rows and types.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Figure } from '../measure.js';

const ITEMS = Number(process.env.PARQUET_ITEMS ?? 1_000_000);
const STEP = fileURLToPath(new URL('./parquet-step.mjs', import.meta.url));
const TYPES = {
  url: 'VARCHAR',
  title: 'VARCHAR',
  price: 'DOUBLE',
  stock: 'BIGINT',
  isNew: 'BOOLEAN',
  seenAt: 'TIMESTAMP WITH TIME ZONE',
  category: 'VARCHAR',
  tags: 'VARCHAR[]',
};

export async function measure(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'orcrawl-measure-parquet-'));
  try {
    const few = await exported(join(folder, 'few'), Math.ceil(ITEMS / 10));
    const all = await exported(join(folder, 'all'), ITEMS);
    const { rows, checksum, types } = await readBack(all.file);
    const isSame = rows === ITEMS && checksum === expectedChecksum() && types === JSON.stringify(TYPES);
    const rate = Math.round(ITEMS / all.cpuSecs);
    return [
      { what: 'rows per CPU-second, both looks included', measured: rate.toLocaleString('en'), goal: '≥ 100,000' },
      {
        what: `peak memory at ${ITEMS.toLocaleString('en')} items, and at a tenth of them`,
        measured: `${Math.round(all.peakMb)} MB, ${Math.round(few.peakMb)} MB`,
        goal: 'at most 100 MB more',
      },
      { what: 'DuckDB reads the same rows and types', measured: isSame ? 'yes' : `no: ${types}`, goal: 'yes' },
      { what: 'size, beside JSON lines', measured: `${mb(all.bytes)} of ${mb(all.jsonBytes)} MB`, goal: '' },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const mb = (bytes: number) => Math.round(bytes / 1024 / 1024);

async function exported(folder: string, items: number) {
  const dataset = join(folder, 'datasets', 'items');
  await mkdir(dataset, { recursive: true });
  const lines = join(dataset, '000001-direct-000000000000.jsonl');
  const out = createWriteStream(lines);
  for (let n = 0; n < items; n += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, items - n) }, (_, m) => `${JSON.stringify(itemOf(n + m))}\n`);
    if (!out.write(batch.join(''))) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  const file = join(folder, 'items.parquet');
  const { stdout } = await promisify(execFile)(process.execPath, [STEP, folder, file]);
  const figures = JSON.parse(stdout) as { cpuSecs: number; peakMb: number };
  return { ...figures, file, bytes: (await stat(file)).size, jsonBytes: (await stat(lines)).size };
}

function itemOf(n: number) {
  return {
    url: `https://shop-${n % 997}.example/products/${n}`,
    title: `Product ${n} with a name of usual length, number ${(n * 7919) % 10_007}`,
    price: ((n * 31) % 100_000) / 100 + 0.005,
    stock: (n * 13) % 1_000,
    isNew: n % 3 === 0,
    seenAt: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
    category: `category ${n % 50}`,
    tags: n % 4 === 0 ? [] : [`tag ${n % 20}`, `tag ${n % 7}`],
  };
}

function expectedChecksum(): string {
  let stock = 0;
  let tags = 0;
  for (let n = 0; n < ITEMS; n++) {
    stock += (n * 13) % 1_000;
    tags += n % 4 === 0 ? 0 : 2;
  }
  return `${stock} ${tags} ${ITEMS}`;
}

async function readBack(file: string) {
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    const one = async (sql: string) => (await duck.runAndReadAll(sql)).getRowObjectsJson();
    const [sums] = await one(
      `select sum(stock)::bigint as stock, sum(len(tags))::bigint as tags, count(distinct url) as urls, count(*) as n from '${file}'`,
    );
    const columns = await one(`describe select * from '${file}'`);
    const types = Object.fromEntries(columns.map((row) => [String(row['column_name']), row['column_type']]));
    return {
      rows: Number(sums!['n']),
      checksum: `${sums!['stock']} ${sums!['tags']} ${sums!['urls']}`,
      types: JSON.stringify(types),
    };
  } finally {
    duck.closeSync();
  }
}
