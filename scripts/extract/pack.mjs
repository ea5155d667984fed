// Packs trained models for src/extract/model/trees.ts, which documents the format.

export function packModels(models) {
  const parts = models.map(({ base, trees }) => {
    const depth = trees[0].features.length;
    const largest = Math.max(...trees.flatMap(({ leaves }) => [...leaves].map(Math.abs)));
    const unit = Math.fround(largest / 32_000);
    const bytes = Buffer.alloc(12 + trees.length * (depth * 6 + (2 << depth)));
    bytes.writeFloatLE(base, 0);
    bytes.writeFloatLE(unit, 4);
    bytes.writeUInt16LE(trees.length, 8);
    bytes.writeUInt16LE(depth, 10);
    let at = 12;
    for (const { features, thresholds } of trees) {
      if (features.length !== depth) throw new Error('a tree asks fewer questions than the others');
      for (let level = 0; level < depth; level++, at += 6) {
        bytes.writeUInt16LE(features[level], at);
        bytes.writeFloatLE(thresholds[level], at + 2);
      }
    }
    for (const { leaves } of trees) for (const leaf of leaves) at = bytes.writeInt16LE(Math.round(leaf / unit), at);
    return bytes;
  });
  return Buffer.concat(parts);
}
