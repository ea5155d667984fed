// The trained weights, read from the files beside this one: scripts/train.mjs writes them.
// See docs/decisions/013-extraction.md.
import { readFileSync } from 'node:fs';

export function readWeights(name: 'weights' | 'name-weights' | 'third-weights'): Buffer {
  return readFileSync(new URL(`./${name}.bin`, import.meta.url));
}
