// What a sample gets: the web of the parity scripts. A sample is otherwise a script as a user of Crawlee writes it.
export interface Site {
  readonly url: string;
  /** The URL of a path. */
  at(path: string): string;
  sleep(ms: number): Promise<void>;
}

/** By name; what a sample resolves to is compared. */
export type Samples = Record<string, (site: Site) => Promise<unknown>>;

export const pathOf = (url: string | undefined): string => new URL(url ?? 'none:').pathname;
