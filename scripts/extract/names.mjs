// Learns what the words of class names, ids and roles say: logistic regression, a weight a word, distance and kind of page.
// Seeded by nothing: the same pages give the same weights. src/extract/model/names.ts evaluates what this fits.
import { deflateSync } from 'node:zlib';
import { minimize } from './minimize.mjs';
import { siteOf } from './truth.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { BANDS, MIDDLE_STEPS, NAME_COLUMNS, NEAR_STEPS } = await jiti.import('../../src/extract/model/names.ts');
const { FIRST_NODE, STRIDE } = await jiti.import('../../src/extract/page/segment.ts');

/** Words of fewer sites are accidents. */
const MIN_SITES = 4;
/** How strongly weights are held near 0. */
const HOLD = 100;
const STEPS = 80;
/** Slots of a word: what it weighs at any distance, then what each distance adds. */
const SLOTS = 1 + BANDS;

/** Numbers the words of all pages and prepares each page for {@link fitNames}. */
export function readNames(parts) {
  const sites = new Map();
  for (const { url, id, segments } of parts) {
    const site = siteOf(url || id);
    for (const hash of new Set(segments.names)) {
      if (!sites.has(hash)) sites.set(hash, new Set());
      sites.get(hash).add(site);
    }
  }
  const rows = new Map();
  for (const [hash, of] of sites) if (of.size >= MIN_SITES) rows.set(hash, rows.size);
  const pages = parts.map(({ segments }) => {
    const { tree, names, nameStart, blocks, count } = segments;
    // The words of this page, numbered anew, and where they stand.
    const local = new Map();
    const node = [];
    const word = [];
    for (let n = 1; n < tree.count; n++) {
      for (let k = nameStart[n]; k < nameStart[n + 1]; k++) {
        const row = rows.get(names[k]);
        if (row === undefined) continue;
        if (!local.has(row)) local.set(row, local.size);
        node.push(n);
        word.push(local.get(row));
      }
    }
    const starts = Int32Array.from({ length: count }, (_, b) => tree.parent[blocks[b * STRIDE + FIRST_NODE]]);
    return {
      nodes: tree.count,
      parent: tree.parent.slice(0, tree.count),
      starts,
      node: Int32Array.from(node),
      word: Int32Array.from(word),
      rows: Int32Array.from(local.keys()),
    };
  });
  return { rows, pages };
}

const size = (names) => names.rows.size * SLOTS * NAME_COLUMNS + NAME_COLUMNS;

/** How much of each column counts on a page of these kinds. */
const columnsOf = (kinds) => [1, ...kinds];

/** The band of each step up from a block; further up it is the last. */
const STEPS_UP = [...new Array(NEAR_STEPS).fill(0), ...new Array(MIDDLE_STEPS).fill(1)];
const FAR = 2;

/** Logits of one page's blocks. */
function logitsOf(page, columns, weights) {
  const value = new Float64Array(page.rows.length * BANDS);
  page.rows.forEach((row, w) => {
    for (let band = 0; band < BANDS; band++)
      for (let c = 0; c < NAME_COLUMNS; c++) value[w * BANDS + band] += columns[c] * wordWeight(weights, row, band, c);
  });
  const sums = Array.from({ length: BANDS }, () => new Float64Array(page.nodes));
  for (let k = 0; k < page.node.length; k++)
    for (let band = 0; band < BANDS; band++) sums[band][page.node[k]] += value[page.word[k] * BANDS + band];
  for (let node = 1; node < page.nodes; node++) sums[FAR][node] += sums[FAR][page.parent[node]];
  const bias = weights.length - NAME_COLUMNS;
  let base = 0;
  for (let c = 0; c < NAME_COLUMNS; c++) base += columns[c] * weights[bias + c];
  return Float64Array.from(page.starts, (start) => {
    let sum = base;
    let node = start;
    for (let step = 0; step < STEPS_UP.length && node > 0; step++, node = page.parent[node])
      sum += sums[STEPS_UP[step]][node];
    return sum + sums[FAR][node];
  });
}

const wordWeight = (weights, row, band, column) =>
  weights[row * SLOTS * NAME_COLUMNS + column] + weights[(row * SLOTS + 1 + band) * NAME_COLUMNS + column];

/** Fits the weights to the listed pages. `kinds` by page; target and weight by row. */
export function fitNames(names, { parts, target, weight }, isWanted, kinds) {
  const wanted = parts.filter(isWanted);
  const bias = size(names) - NAME_COLUMNS;
  const cost = (weights, gradient) => {
    gradient.fill(0);
    let loss = 0;
    for (const part of wanted) {
      const page = names.pages[part.index];
      const columns = columnsOf(kinds[part.index]);
      const logits = logitsOf(page, columns, weights);
      const back = Array.from({ length: BANDS }, () => new Float64Array(page.nodes));
      let total = 0;
      for (let b = 0; b < part.count; b++) {
        const row = part.first + b;
        const x = logits[b];
        loss += weight[row] * (Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))) - target[row] * x);
        const g = weight[row] * (1 / (1 + Math.exp(-x)) - target[row]);
        total += g;
        let node = page.starts[b];
        for (let step = 0; step < STEPS_UP.length && node > 0; step++, node = page.parent[node])
          back[STEPS_UP[step]][node] += g;
        back[FAR][node] += g;
      }
      for (let node = page.nodes - 1; node > 0; node--) back[FAR][page.parent[node]] += back[FAR][node];
      const words = new Float64Array(page.rows.length * BANDS);
      for (let k = 0; k < page.node.length; k++)
        for (let band = 0; band < BANDS; band++) words[page.word[k] * BANDS + band] += back[band][page.node[k]];
      for (let w = 0; w < page.rows.length; w++) {
        const at = page.rows[w] * SLOTS * NAME_COLUMNS;
        for (let band = 0; band < BANDS; band++) {
          const g = words[w * BANDS + band];
          for (let c = 0; c < NAME_COLUMNS; c++) {
            gradient[at + c] += g * columns[c];
            gradient[at + (1 + band) * NAME_COLUMNS + c] += g * columns[c];
          }
        }
      }
      for (let c = 0; c < NAME_COLUMNS; c++) gradient[bias + c] += total * columns[c];
    }
    for (let k = 0; k < bias; k++) {
      loss += (HOLD / 2) * weights[k] * weights[k];
      gradient[k] += HOLD * weights[k];
    }
    return loss;
  };
  return minimize(cost, new Float64Array(size(names)), STEPS);
}

/** Writes the logits of the listed pages into `out`, by row. */
export function tellNames(names, weights, parts, kinds, out) {
  for (const part of parts) {
    const logits = logitsOf(names.pages[part.index], columnsOf(kinds[part.index]), weights);
    for (let b = 0; b < part.count; b++) out[part.first + b] = logits[b];
  }
  return out;
}

/** Packs fitted weights for src/extract/model/names.ts, which documents the format. */
export function packNames(names, weights) {
  const rows = [...names.rows];
  const flat = rows.flatMap(([, row]) =>
    Array.from({ length: BANDS * NAME_COLUMNS }, (_, k) =>
      wordWeight(weights, row, Math.floor(k / NAME_COLUMNS), k % NAME_COLUMNS),
    ),
  );
  const unit = Math.fround(flat.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127);
  const head = Buffer.alloc(8 + NAME_COLUMNS * 4 + rows.length * 4);
  head.writeUInt32LE(rows.length, 0);
  head.writeFloatLE(unit, 4);
  for (let c = 0; c < NAME_COLUMNS; c++) head.writeFloatLE(weights[weights.length - NAME_COLUMNS + c], 8 + c * 4);
  rows.forEach(([hash], k) => head.writeInt32LE(hash, 8 + NAME_COLUMNS * 4 + k * 4));
  const body = Buffer.from(Int8Array.from(flat, (value) => Math.round(value / unit)).buffer);
  return deflateSync(Buffer.concat([head, body]), { level: 9 });
}
