// A page in a list: types only, shared with the console's page, which knows nothing of Node.
/** What whoever fetched a page knows of it, beside its document. */
export interface PageFacts {
  readonly status?: number | undefined;
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  /** Of the body. */
  readonly bytes?: number | undefined;
  /** From the request to the end of its answer. */
  readonly ms?: number | undefined;
}

export type RowKind = 'page' | 'failed' | 'robots';

export interface PageRow extends PageFacts {
  readonly kind: RowKind;
  readonly url: string;
  readonly atMs: number;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  /** The number of its document among the job's results. */
  readonly result?: number | undefined;
}
