// From probabilities to a choice of blocks: the set whose expected F1 is highest.
// Promise: the best set is always the blocks above some probability, so sorting once finds it.

export interface Choice {
  readonly chosen: Uint8Array;
  /** The F1 to be expected of this choice, were the probabilities true. */
  readonly expected: number;
}

/** Chooses among blocks of the given sizes. */
export function chooseBlocks(probabilities: Float32Array, sizes: ArrayLike<number>): Choice {
  const count = probabilities.length;
  const order = Array.from({ length: count }, (_, k) => k).sort(
    (a, b) => probabilities[b]! - probabilities[a]! || a - b,
  );
  let wanted = 0;
  for (let k = 0; k < count; k++) wanted += probabilities[k]! * sizes[k]!;
  let gained = 0;
  let taken = 0;
  let best = 0;
  let cut = 0;
  for (let k = 0; k < count; k++) {
    const block = order[k]!;
    gained += probabilities[block]! * sizes[block]!;
    taken += sizes[block]!;
    const f1 = (2 * gained) / (taken + wanted);
    if (f1 >= best) {
      best = f1;
      cut = k + 1;
    }
  }
  const chosen = new Uint8Array(count);
  for (let k = 0; k < cut; k++) chosen[order[k]!] = 1;
  return { chosen, expected: best };
}
