// Says of each block of a reviewed page how much of it is main content, from the reviewed plain text.
// Long blocks are found by their word sequences, short ones by what of the reviewed text is still unaccounted for.
import { bag } from './truth.mjs';

const SHINGLE = 5;
/** What being among content counts beside what a model said of the block itself. */
const NEAR_SHARE = 0.15;

const shingles = (words) => {
  const list = [];
  for (let k = 0; k + SHINGLE <= words.length; k++) list.push(words.slice(k, k + SHINGLE).join(' '));
  return list;
};

/**
 * A share from 0 to 1 for each block, from the words of all blocks and of the reviewed text. A page often shows a text
 * twice: `looks`, the probabilities that a model gave which has not seen the page, then say which one is meant.
 */
export function labelBlocks(words, wanted, looks = null) {
  const residual = bag(wanted);
  const left = bag(shingles(wanted));
  const labels = new Float32Array(words.length);
  const take = (list) => {
    for (const word of list) residual.set(word, (residual.get(word) ?? 0) - 1);
  };
  const long = [...words.keys()].filter((index) => words[index].length >= SHINGLE + 2);
  if (looks !== null) long.sort((a, b) => Math.round(looks[b] * 5) - Math.round(looks[a] * 5) || a - b);
  for (const index of long) {
    const list = words[index];
    const own = shingles(list);
    let matched = 0;
    for (const shingle of own) if ((left.get(shingle) ?? 0) > 0) matched++;
    const share = matched / own.length;
    labels[index] = share;
    if (share < 0.3) continue;
    for (const shingle of own) if ((left.get(shingle) ?? 0) > 0) left.set(shingle, left.get(shingle) - 1);
    take(list);
  }
  // Short blocks: those among content first, so that a word of the menu does not take the place of one of the text.
  const line = ` ${wanted.join(' ')} `;
  const near = nearness(words, labels);
  const order = words
    .map((_, index) => index)
    .filter((index) => words[index].length < SHINGLE + 2 && words[index].length > 0);
  const rank = looks === null ? near : near.map((value, index) => value * NEAR_SHARE + looks[index]);
  order.sort((a, b) => rank[b] - rank[a] || words[b].length - words[a].length || a - b);
  for (const index of order) {
    const list = words[index];
    const needed = bag(list);
    let found = 0;
    for (const [word, count] of needed) found += Math.min(count, Math.max(0, residual.get(word) ?? 0));
    const share = found / list.length;
    if (share < 0.6 || (!line.includes(` ${list.join(' ')} `) && near[index] < 0.5)) continue;
    labels[index] = share;
    take(list);
  }
  return labels;
}

/** How much the long blocks around each block are content: 0 to 2. */
function nearness(words, labels) {
  const near = new Float32Array(words.length);
  let last = 0;
  for (let k = 0; k < words.length; k++) {
    if (words[k].length >= SHINGLE + 2) last = labels[k];
    near[k] += last;
  }
  last = 0;
  for (let k = words.length - 1; k >= 0; k--) {
    if (words[k].length >= SHINGLE + 2) last = labels[k];
    near[k] += last;
  }
  return near;
}
