// One export of a dataset in a process of its own: prints its CPU time and peak memory as JSON.
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Configuration, Dataset } from '../../dist/index.js';

const [folder, file] = process.argv.slice(2);
const config = new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false });
const dataset = await Dataset.open('items', { config });
const before = process.cpuUsage();
await pipeline(dataset.exportStream('parquet'), createWriteStream(file));
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuSecs: (user + system) / 1e6, peakMb: process.resourceUsage().maxRSS / 1024 }));
