// How items are shown to whoever reads a dataset: chosen fields, without hidden ones, without empty items.
// Promise: a view changes what is returned, never what is stored, counted or skipped over.
import { aBoolean, arrayOf, aString, aWholeNumber, withoutEffect } from '../../option-checks.js';
import type { Shape } from '../../option-checks.js';
import type { Dictionary } from '../../request/request.js';

/** Which fields and items are shown. */
export interface ItemViewOptions {
  /** Only these fields, in this order. */
  fields?: string[];
  /** Without fields whose name begins with `#`. */
  skipHidden?: boolean;
  /** Without items that have no fields (left). Fewer items than `limit` may then come back. */
  skipEmpty?: boolean;
  /** Both of the above. */
  clean?: boolean;
}

/** Which items are returned, and in what order. */
export interface DatasetDataOptions extends ItemViewOptions {
  /** Items to pass over. Default 0. */
  offset?: number;
  /** At most so many items. Default: all. */
  limit?: number;
  /** The newest first; `offset` then counts from the newest. */
  desc?: boolean;
}

const VIEW_SHAPE: Shape = {
  fields: arrayOf(aString),
  skipHidden: aBoolean,
  skipEmpty: aBoolean,
  clean: aBoolean,
  unwind: withoutEffect('it belongs to a remote storage; items are returned as they were pushed'),
};

export const DATA_SHAPE: Shape = {
  ...VIEW_SHAPE,
  offset: aWholeNumber({ from: 0 }),
  limit: aWholeNumber({ from: 0, orInfinity: true }),
  desc: aBoolean,
  format: withoutEffect('items are objects'),
};

export const EXPORT_SHAPE: Shape = { ...VIEW_SHAPE, desc: aBoolean, collectAllKeys: aBoolean, rawCells: aBoolean };

/** Shows one item, or undefined when it is not to be shown. */
export type ItemView = (item: Dictionary) => Dictionary | undefined;

/** The view for these options; undefined when items are shown as they are. */
export function itemView({ fields, skipHidden, skipEmpty, clean }: ItemViewOptions): ItemView | undefined {
  const withoutHidden = skipHidden ?? clean ?? false;
  const withoutEmpty = skipEmpty ?? clean ?? false;
  if (fields === undefined && !withoutHidden && !withoutEmpty) return undefined;
  return (item) => {
    const names = fields === undefined ? Object.keys(item) : fields.filter((name) => Object.hasOwn(item, name));
    const shown = withoutHidden ? names.filter((name) => !name.startsWith('#')) : names;
    if (withoutEmpty && shown.length === 0) return undefined;
    return Object.fromEntries(shown.map((name) => [name, item[name]]));
  };
}
