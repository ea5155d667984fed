// What the training script reads of a page: the features and texts of its blocks, exactly as the extractor sees them.
// Not part of the public surface; it ships so that the script runs against dist/.
import type { PageTree } from '../../parse/tree/tree.js';
import { blockFeatures, FEATURE_NAMES } from './features.js';
import { readHead } from '../facts/metadata.js';
import { readSignals, SIGNAL_NAMES } from './page-signals.js';
import type { Segments } from '../page/segment.js';
import { FIRST_NODE, LAST_NODE, STRIDE, segment } from '../page/segment.js';
import { blockText } from '../page/block-text.js';
import { standInLines } from '../facts/stand-in.js';

export const BLOCK_FEATURES = FEATURE_NAMES;
export const PAGE_SIGNALS = SIGNAL_NAMES;

export interface TrainingPage {
  readonly count: number;
  readonly segments: Segments;
  readonly features: Float32Array;
  readonly texts: readonly string[];
  readonly signals: Float32Array;
  /** What the extractor gives instead of any block. */
  readonly standIn: readonly string[] | null;
}

export function readTrainingPage(tree: PageTree, url: string): TrainingPage {
  const segments = segment(tree);
  const head = readHead(tree);
  const texts: string[] = [];
  for (let b = 0; b < segments.count; b++) {
    const at = b * STRIDE;
    texts.push(blockText(segments, segments.blocks[at + FIRST_NODE]!, segments.blocks[at + LAST_NODE]!));
  }
  return {
    count: segments.count,
    segments,
    features: blockFeatures(segments, head),
    texts,
    signals: readSignals(segments, head, url),
    standIn: standInLines(tree, head, segments.words[0]!),
  };
}
