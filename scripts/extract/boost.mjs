// Gradient-boosted symmetric trees for a probability: small, seeded, no dependencies.
// Every level of a tree asks one question of all its rows, so a tree is `depth` questions and 2^depth answers.

const BINS = 64;

/** A typed array that worker threads see too. */
export function shared(Type, length) {
  return new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT));
}

/** A seeded generator (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Cuts each column into at most 64 bins at its quantiles. */
export function binColumns(columns, rows, random) {
  const thresholds = [];
  const bins = [];
  const sample = Array.from({ length: Math.min(20_000, rows.length) }, () => rows[Math.floor(random() * rows.length)]);
  for (const column of columns) {
    const values = Float32Array.from(sample, (row) => column[row]).sort();
    const distinct = [...new Set(values)];
    let cuts;
    if (distinct.length <= BINS) {
      cuts = distinct.slice(0, -1).map((value, k) => (value + distinct[k + 1]) / 2);
    } else {
      cuts = [];
      for (let k = 1; k < BINS; k++) {
        const value = values[Math.floor((k * values.length) / BINS)];
        if (cuts.length === 0 || value > cuts.at(-1)) cuts.push(value);
      }
    }
    const floats = Float32Array.from(cuts);
    thresholds.push(floats);
    bins.push(binned(column, floats));
  }
  return { thresholds, bins };
}

function binned(column, cuts) {
  const out = shared(Uint8Array, column.length);
  for (let r = 0; r < column.length; r++) {
    const value = column[r];
    let low = 0;
    let high = cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value > cuts[middle]) low = middle + 1;
      else high = middle;
    }
    out[r] = low;
  }
  return out;
}

/**
 * Fits a model to the rows listed. `target` and `weight` are by row; groups of rows (pages) are sampled together,
 * and of them the rows with large gradients more often than others, reweighted so that sums stay unbiased.
 * Returns `{ base, trees: [{ features, thresholds, leaves }] }`: the score is the sum of the leaves, as a logit.
 */
export function fit({ data, rows: given, target, weight, group, settings, seed }) {
  const { trees: treeCount, depth, rate, groupShare, rowShare, columnShare, l2 } = settings;
  const random = generator(seed);
  const { thresholds, bins } = data;
  const rows = Int32Array.from(given);
  const count = rows.length;
  const score = new Float32Array(count);
  let sumWeight = 0;
  let sumTarget = 0;
  let groups = 0;
  for (const row of rows) {
    sumWeight += weight[row];
    sumTarget += weight[row] * target[row];
    groups = Math.max(groups, group[row] + 1);
  }
  const mean = Math.min(0.999, Math.max(0.001, sumTarget / sumWeight));
  const base = Math.log(mean / (1 - mean));
  score.fill(base);
  const trees = [];
  const leaves = 1 << depth;
  const leafOf = new Uint8Array(count);
  const gradient = new Float32Array(count);
  const hessian = new Float32Array(count);
  const size = new Float32Array(count);
  const sampleRow = new Int32Array(count);
  const sampleLeaf = new Uint16Array(count);
  const sampleG = new Float32Array(count);
  const sampleH = new Float32Array(count);
  const hist = new Float64Array(leaves * BINS * 2);
  const gains = new Float64Array(BINS);
  for (let t = 0; t < treeCount; t++) {
    const isIn = Uint8Array.from({ length: groups }, () => (random() < groupShare ? 1 : 0));
    let sumSize = 0;
    for (let k = 0; k < count; k++) {
      const row = rows[k];
      const p = 1 / (1 + Math.exp(-score[k]));
      gradient[k] = weight[row] * (target[row] - p);
      hessian[k] = weight[row] * Math.max(1e-4, p * (1 - p));
      size[k] = isIn[group[row]] === 1 ? Math.abs(gradient[k]) + 0.1 * hessian[k] : 0;
      sumSize += size[k];
    }
    // The size above which a row is always taken, so that about rowShare of them are.
    const wanted = rowShare * count;
    let always = sumSize / wanted;
    for (let round = 0; round < 5; round++) {
      let expected = 0;
      for (let k = 0; k < count; k++) expected += Math.min(1, size[k] / always);
      always *= expected / wanted;
    }
    let taken = 0;
    for (let k = 0; k < count; k++) {
      const chance = Math.min(1, size[k] / always);
      if (chance === 0 || (chance < 1 && random() >= chance)) continue;
      sampleRow[taken] = rows[k];
      sampleLeaf[taken] = 0;
      sampleG[taken] = gradient[k] / chance;
      sampleH[taken++] = hessian[k] / chance;
    }
    const tree = { features: [], thresholds: [], leaves: null };
    const splits = [];
    for (let level = 0; level < depth; level++) {
      const nodes = 1 << level;
      const best = { gain: -1, feature: -1, bin: -1 };
      for (let feature = 0; feature < bins.length; feature++) {
        const cuts = thresholds[feature].length;
        if (random() >= columnShare || cuts === 0) continue;
        const column = bins[feature];
        hist.fill(0, 0, nodes * BINS * 2);
        for (let k = 0; k < taken; k++) {
          const at = (sampleLeaf[k] << 7) | (column[sampleRow[k]] << 1);
          hist[at] += sampleG[k];
          hist[at + 1] += sampleH[k];
        }
        gains.fill(0, 0, cuts);
        for (let node = 0; node < nodes; node++) {
          const from = node * BINS * 2;
          let g = 0;
          let h = 0;
          for (let bin = 0; bin <= cuts; bin++) {
            g += hist[from + bin * 2];
            h += hist[from + bin * 2 + 1];
          }
          if (h === 0) continue;
          let gl = 0;
          let hl = 0;
          for (let bin = 0; bin < cuts; bin++) {
            gl += hist[from + bin * 2];
            hl += hist[from + bin * 2 + 1];
            gains[bin] += (gl * gl) / (hl + l2) + ((g - gl) * (g - gl)) / (h - hl + l2);
          }
        }
        for (let bin = 0; bin < cuts; bin++) {
          if (gains[bin] > best.gain) Object.assign(best, { gain: gains[bin], feature, bin });
        }
      }
      if (best.feature < 0) break;
      tree.features.push(best.feature);
      tree.thresholds.push(thresholds[best.feature][best.bin]);
      splits.push(best);
      const column = bins[best.feature];
      for (let k = 0; k < taken; k++) if (column[sampleRow[k]] > best.bin) sampleLeaf[k] |= 1 << level;
    }
    leafOf.fill(0);
    splits.forEach(({ feature, bin }, level) => {
      const column = bins[feature];
      for (let k = 0; k < count; k++) if (column[rows[k]] > bin) leafOf[k] |= 1 << level;
    });
    const sumG = new Float64Array(leaves);
    const sumH = new Float64Array(leaves);
    for (let k = 0; k < taken; k++) {
      sumG[sampleLeaf[k]] += sampleG[k];
      sumH[sampleLeaf[k]] += sampleH[k];
    }
    tree.leaves = Float32Array.from(sumG, (g, k) => (rate * g) / (sumH[k] + l2));
    for (let k = 0; k < count; k++) score[k] += tree.leaves[leafOf[k]];
    trees.push(tree);
  }
  return { base, trees };
}

/** Logits of the listed rows. */
export function predict(model, columns, rows, out = new Float32Array(columns[0].length)) {
  const list = Int32Array.from(rows);
  const leaf = new Uint8Array(list.length);
  for (const row of list) out[row] = model.base;
  for (const { features, thresholds, leaves } of model.trees) {
    leaf.fill(0);
    features.forEach((feature, level) => {
      const column = columns[feature];
      const threshold = thresholds[level];
      for (let k = 0; k < list.length; k++) if (column[list[k]] > threshold) leaf[k] |= 1 << level;
    });
    for (let k = 0; k < list.length; k++) out[list[k]] += leaves[leaf[k]];
  }
  return out;
}
