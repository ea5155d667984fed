// What a document gets after its page was read: a model's answers, and what changed since the last time.
// Promise: the last version of a page is kept per token and tag; a failure of the model fails the document by name.
import { extractBy } from '../../crawl/model/extract.js';
import type { AskModel } from '../../crawl/model/ask.js';
import type { KeptValues } from '../jobs/store.js';
import { fieldDiff } from '../../fresh/change/json-diff.js';
import { textHashOf } from '../../fresh/change/judge.js';
import { normaliseContent } from '../../fresh/change/normalise.js';
import { lineDiff } from '../../fresh/change/line-diff.js';
import { fingerprintToId } from '../../request/fingerprint.js';
import { type Document, type PageSource, textOf } from './document.js';
import type { ChangeWish, ModelWish, PageWish } from './formats.js';
import { readingFor } from './reading.js';

export interface Finishing {
  readonly model: AskModel | undefined;
  /** Where versions are kept. */
  readonly versions: Pick<KeptValues, 'swap' | 'peek'>;
}

export async function finishDocument(
  document: Document,
  source: Pick<PageSource, 'url' | 'markdown' | 'compared'>,
  wish: PageWish,
  owner: string,
  { model, versions }: Finishing,
): Promise<void> {
  if (wish.models.length === 0 && !wish.changes) return;
  const page = {
    url: source.url,
    text: model ? textOf(source, wish) : '',
    compared: () => readingFor(wish, () => source.compared),
  };
  if (model) for (const one of wish.models) document[one.field] = await answerOf(model, one, page.text, document);
  if (!wish.changes) return;
  const changes = await changesOf(document, page, wish.changes, owner, { model, versions });
  if (changes) document.changeTracking = changes;
}

async function answerOf(
  model: AskModel,
  { prompt, schema, systemPrompt, field }: ModelWish,
  text: string,
  document: Document,
) {
  // Without a schema, "json" is still JSON.
  const shape = field === 'json' || field === 'extract' ? (schema ?? { type: 'object' }) : undefined;
  const { data, isCut } = await extractBy(model, text, { prompt, schema: shape, systemPrompt });
  if (isCut) document.warning = 'The page is longer than the model may read: its end was left out.';
  return data;
}

interface Version {
  readonly markdown: string;
  /** Of what is compared of the page, as in crawls that remember. Missing in what an older release kept. */
  readonly contentHash?: string;
  readonly scrapedAt: string;
  readonly json?: unknown;
}

/** As it is kept: a page that is gone has no version. */
type KeptVersion = Partial<Version> & {
  /** The job that kept it, and what that job compared with. */
  readonly by?: string | undefined;
  readonly previous?: Version | undefined;
};

/** Under which name the last version of a page is kept. A tag is whatever a client says: the owner's name ends before it. */
export const versionName = (owner: string, tag: string, url: string): string =>
  `version ${encodeURIComponent(owner)} ${tag} ${url}`;

/** Undefined for a page that did not come and of whose change nothing is known. */
async function changesOf(
  document: Document,
  { url, text, compared }: { readonly url: string; readonly text: string; readonly compared: () => string },
  { modes, tag, prompt, schema, by }: ChangeWish,
  owner: string,
  { model, versions }: Finishing,
): Promise<Record<string, unknown> | undefined> {
  const name = versionName(owner, tag, url);
  const kept = await versions.peek(name);
  const before = versionBefore(kept ? (JSON.parse(kept) as KeptVersion) : undefined, by);
  const keep = async (version: Partial<Version>): Promise<void> => {
    const value: KeptVersion = by === undefined ? version : { ...version, by, previous: before };
    await versions.swap(name, JSON.stringify(value));
  };
  const head = { previousScrapeAt: before?.scrapedAt ?? null, visibility: 'visible' };
  const { statusCode } = document.metadata;
  // An error page is not a version of the page.
  if (typeof statusCode === 'number' && statusCode >= 400) {
    if (!before || !GONE.has(statusCode)) return undefined;
    await keep({});
    return { ...head, changeStatus: 'removed' };
  }
  const markdown = document.markdown ?? '';
  const wantsJson = model !== undefined && modes.includes('json');
  const asked = prompt === undefined && schema === undefined ? document.json : undefined;
  const shape = schema ?? { type: 'object' };
  const json = wantsJson ? (asked ?? (await extractBy(model, text, { prompt, schema: shape })).data) : undefined;
  const contentHash = fingerprintToId(textHashOf(compared()));
  await keep({ markdown, contentHash, scrapedAt: new Date().toISOString(), json });
  const changeStatus =
    before === undefined ? 'new' : isSameContent(before, { markdown, contentHash }) ? 'same' : 'changed';
  return {
    ...head,
    changeStatus,
    ...(before &&
      changeStatus === 'changed' &&
      modes.includes('git-diff') && { diff: lineDiff(before.markdown, markdown) }),
    ...(before && wantsJson && { json: fieldDiff(before.json, json) }),
  };
}

const GONE = new Set([404, 410]);

/** What a job compares with: the same at every try, also when it was killed after it had kept its own version. */
function versionBefore(kept: KeptVersion | undefined, by: string | undefined): Version | undefined {
  if (kept && by !== undefined && kept.by === by) return kept.previous;
  return kept?.markdown === undefined ? undefined : (kept as Version);
}

function isSameContent(before: Version, now: { readonly markdown: string; readonly contentHash: string }): boolean {
  if (before.contentHash !== undefined) return before.contentHash === now.contentHash;
  return before.markdown === now.markdown || comparedMarkdown(before.markdown) === comparedMarkdown(now.markdown);
}

/** Of a version that an older release kept: dates, counters and addresses of links may change without a change of the page. */
function comparedMarkdown(markdown: string): string {
  return normaliseContent(markdown.replace(/\]\([^()\s]{0,4000}\)/g, ']'));
}
