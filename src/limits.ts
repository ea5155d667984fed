// Bounds on what a page, a host or a user can cost: one list, so that a reader finds them all.

/** Levels of JSON that a page may carry: no vocabulary nests deeper, and what does would end a serialiser. */
export const MAX_JSON_DEPTH = 100;
