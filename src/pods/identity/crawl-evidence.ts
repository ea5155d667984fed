// Which crawl each store and folder belongs to, and whether they match.
// Promise: pure; all mismatches are reported at once, each by name and with what to do.
import { CrawlError } from '../../errors.js';

export interface StoreEvidence {
  readonly pod: number;
  /** The address or folder, for people. */
  readonly where: string;
  readonly crawl: string | undefined;
  /** Whether it holds a crawl, named or not. */
  readonly isFilled: boolean;
}

export interface FolderEvidence {
  /** Its configuration key. */
  readonly key: 'data_dirs' | 'state_dir';
  readonly path: string;
  readonly crawl: string | undefined;
}

export interface Evidence {
  readonly stores: readonly StoreEvidence[];
  readonly folders: readonly FolderEvidence[];
  /** The pod whose store is named first. */
  readonly coordinator: number;
  /** Whether a pod is known to have taken part in a crawl. */
  readonly hasJoined: (pod: number, crawl: string) => boolean;
}

export type Finding =
  /** Everything belongs to this crawl or may join it. */
  | { readonly kind: 'named'; readonly crawl: string; readonly unmarked: readonly FolderEvidence[] }
  /** Stores that were filled before crawls had names. */
  | { readonly kind: 'unnamed' }
  /** Nothing was crawled here yet. */
  | { readonly kind: 'nothing' };

/** What `--resume` continues; throws if the parts do not match. */
export function findCrawl(evidence: Evidence): Finding {
  const { stores, folders } = evidence;
  if (stores.some(({ crawl }) => crawl !== undefined)) return findNamed(evidence);
  const marked = folders.filter(({ crawl }) => crawl !== undefined);
  if (!stores.some(({ isFilled }) => isFilled)) {
    if (marked.length === 0) return { kind: 'nothing' };
    const [{ crawl }] = marked as [FolderEvidence];
    throw refusal(
      crawl!,
      stores.map((store) => emptied(store)),
    );
  }
  const problems = [
    ...stores.filter(({ isFilled }) => !isFilled).map((store) => emptied(store)),
    ...marked.map((folder) => foreignFolder(folder)),
  ];
  if (problems.length > 0) throw refusal(undefined, problems);
  return { kind: 'unnamed' };
}

function findNamed(evidence: Evidence): Finding {
  const { stores, folders, coordinator, hasJoined } = evidence;
  const crawl = mostNamed(evidence);
  const problems: Problem[] = [];
  for (const store of stores) {
    if (store.crawl === crawl) continue;
    if (store.crawl !== undefined) problems.push(foreignStore(store, `belongs to crawl ${store.crawl}`));
    else if (store.isFilled) problems.push(foreignStore(store, 'holds an unnamed crawl of orcrawl 0.1'));
    // One that never took part is new.
    else if (store.pod === coordinator || hasJoined(store.pod, crawl)) problems.push(emptied(store));
  }
  for (const folder of folders) {
    if (folder.crawl !== undefined && folder.crawl !== crawl) problems.push(foreignFolder(folder));
  }
  if (problems.length > 0) throw refusal(crawl, problems);
  return { kind: 'named', crawl, unmarked: folders.filter((folder) => folder.crawl === undefined) };
}

/** The crawl named by most stores; in a tie the coordinating store's, which is named first. */
function mostNamed({ stores, coordinator }: Evidence): string {
  const weights = new Map<string, number>();
  for (const { crawl, pod } of stores) {
    if (crawl !== undefined) weights.set(crawl, (weights.get(crawl) ?? 0) + (pod === coordinator ? 1.5 : 1));
  }
  return [...weights].sort(([, a], [, b]) => b - a)[0]![0];
}

interface Problem {
  readonly code: 'QUEUE_EMPTIED' | 'QUEUE_FOREIGN';
  readonly text: string;
}

function emptied({ pod, where }: StoreEvidence): Problem {
  return {
    code: 'QUEUE_EMPTIED',
    text: `the store of pod ${pod} (${where}) is empty: restore it from a backup`,
  };
}

function foreignStore({ pod, where }: StoreEvidence, what: string): Problem {
  return {
    code: 'QUEUE_FOREIGN',
    text: `the store of pod ${pod} (${where}) ${what}: check the addresses of the pods`,
  };
}

function foreignFolder({ key, path, crawl }: FolderEvidence): Problem {
  return { code: 'QUEUE_FOREIGN', text: `${key}: ${path} belongs to crawl ${crawl}: name the folder of this crawl` };
}

function refusal(crawl: string | undefined, problems: readonly Problem[]): CrawlError {
  const isEmptied = problems.some(({ code }) => code === 'QUEUE_EMPTIED');
  const list = problems.map(({ text }) => text).join('; ');
  return new CrawlError(
    isEmptied ? 'QUEUE_EMPTIED' : 'QUEUE_FOREIGN',
    `${crawl === undefined ? 'the crawl' : `crawl ${crawl}`} cannot be resumed, and nothing was changed: ${list}; ` +
      'or discard the crawl with --fresh',
  );
}
