// Controls and words for screen readers that software writes into a text: a button beside the words of a heading, the
// line that unfolds a description, `visually-hidden` labels of shops.
// Promise: found after the page is cut, so that what the models see stays; one pass, and a heading that is all button stays.
import type { PageTree } from '../../parse/tree/tree.js';
import { elementNumber, elementSet } from '../page/elements.js';

const BUTTON = elementNumber('button');
const SUMMARY = elementNumber('summary');
const HEADING = elementSet('h1 h2 h3 h4 h5 h6');
const MAX_NAMES = 400;
/** What rustdoc calls the line that its page hides once the description is open. */
const UNFOLDS = /(?:^|\s)hideme(?:\s|$)/;

/**
 * Utility classes whose rules stand in a sheet elsewhere: the libraries that define them hide such text from eyes. And what
 * rustdoc sets at the right edge, beside the heading that it stands above: since which version, where the source is.
 */
const NO_TEXT =
  /(?:^|\s)(?:visually-?hidden|sr-only|screen-reader-text|element-invisible|u-hidden-visually|rightside)(?:\s|$)/i;
const SPAN = elementNumber('span');
const TIME = elementNumber('time');
/** A date for machines, beside the one that readers see. */
const MACHINE_DATE = /(?:^|\s)(?:hide|hidden|d-none)(?:\s|$)/;

/**
 * The elements that are controls; `words` are those of each subtree, `hidden` what is left out already, `labels` the elements
 * with a part of a name of {@link NO_TEXT}.
 */
export function controlNodes(
  tree: PageTree,
  words: Int32Array,
  hidden: Uint8Array,
  labels: ReadonlySet<number>,
): number[] {
  const found: number[] = [];
  const hasLabels = labels.size > 0;
  let inHeading: number[] = [];
  let heading = 0;
  let headingEnd = 0;
  let buttonWords = 0;
  const endHeading = (): void => {
    if (buttonWords < words[heading]!) for (const node of inHeading) found.push(node);
    inHeading = [];
    buttonWords = 0;
  };
  for (let node = 1; node < tree.count; node++) {
    const kind = tree.tag[node]!;
    if (HEADING[kind] === 1 && node >= headingEnd) {
      endHeading();
      heading = node;
      headingEnd = tree.end[node]!;
    } else if (kind === BUTTON && node < headingEnd) {
      inHeading.push(node);
      buttonWords += words[node]!;
      node = tree.end[node]! - 1;
    } else if (
      (kind === SUMMARY && UNFOLDS.test(classOf(tree, node))) ||
      // After a text that only eyes see, it says the same again and is all that is left.
      (hasLabels && kind === SPAN && labels.has(node) && hidden[node - 1] === 0 && NO_TEXT.test(classOf(tree, node))) ||
      (hasLabels && kind === TIME && labels.has(node) && MACHINE_DATE.test(classOf(tree, node)))
    ) {
      found.push(node);
      node = tree.end[node]! - 1;
    }
  }
  endHeading();
  return found;
}

function classOf(tree: PageTree, node: number): string {
  return (tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES);
}
