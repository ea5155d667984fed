// A process that the content fault test kills: appends pages without end and acknowledges each batch in a file that
// is replaced atomically, as a queue's settle is atomic. Arguments: folder, pages, layout.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { source } from '../support/source.mjs';

const { ContentStore } = await source('store/content/content');

const [folder, pages, layout = 'segments'] = process.argv.slice(2);
const ACKNOWLEDGED = join(folder, 'acknowledged.json');

let state = existsSync(ACKNOWLEDGED) ? JSON.parse(readFileSync(ACKNOWLEDGED, 'utf8')) : { done: 0, notes: {} };

function acknowledge(next) {
  state = next;
  writeFileSync(`${ACKNOWLEDGED}.tmp`, JSON.stringify(next));
  renameSync(`${ACKNOWLEDGED}.tmp`, ACKNOWLEDGED);
}

function page(n) {
  const url = `https://host-${n % 17}.example/pages/${n}`;
  const text = `Page ${n} says ${createHash('sha512').update(String(n)).digest('base64').repeat(4)}`;
  const response = { statusCode: 200, headers: {}, body: Buffer.from(`<p>${text}`), bodyIs: 'decoded' };
  const fetchedAtMs = Date.UTC(2026, 0, 1) + n;
  return { url, uniqueKey: url, statusCode: 200, fetchedAtMs, contentType: 'text/html', depth: 1, text, response };
}

const content = await ContentStore.open({
  dataDirs: [join(folder, 'ssd1'), join(folder, 'ssd2')],
  storeRawHtml: true,
  layout,
  segmentBytes: 60_000,
  notes: state.notes,
  note: async (notes) => acknowledge({ ...state, notes: { ...state.notes, ...notes } }),
  warn: () => undefined,
});
const outcomes = content.recovered.map(({ outcome }) => outcome);
const cuts = outcomes.filter((outcome) => outcome === 'cut').length;
writeSync(1, `open ${state.done} ${cuts} ${outcomes.includes('short')}\n`);
while (state.done < Number(pages)) {
  const size = 1 + Math.floor(Math.random() * 20);
  const packed = [];
  for (let n = state.done; n < state.done + size; n++) packed.push(await content.pack(page(n)));
  const { written } = await content.append(packed);
  if (Math.random() < 0.1) {
    // The acknowledgement was refused: the batch is taken back and appended again.
    for (const { writer, before } of written) await writer.cutTo(before);
    continue;
  }
  const notes = { ...state.notes };
  for (const { writer } of written) notes[writer.key] = writer.note;
  acknowledge({ done: state.done + size, notes });
  for (const { writer } of written) writer.confirm();
}
await content.close();
writeSync(1, 'finished\n');
