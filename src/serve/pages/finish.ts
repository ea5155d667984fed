// What a document gets after its page was read: a model's answers, and what changed since the last time.
// Promise: the last version of a page is kept per token and tag; a failure of the model fails the document by name.
import { extractBy } from '../../crawl/model/extract.js';
import type { AskModel } from '../../crawl/model/ask.js';
import type { JobPages } from '../jobs/store.js';
import { lineDiff } from './diff.js';
import type { Document } from './document.js';
import type { ChangeWish, ModelWish, PageWish } from './formats.js';

export interface Finishing {
  readonly model: AskModel | undefined;
  /** Where versions are kept. */
  readonly versions: Pick<JobPages, 'swap'>;
}

export async function finishDocument(
  document: Document,
  page: { readonly url: string; readonly text: string },
  wish: PageWish,
  owner: string,
  { model, versions }: Finishing,
): Promise<void> {
  if (model) for (const one of wish.models) document[one.field] = await answerOf(model, one, page.text, document);
  if (wish.changes) document.changeTracking = await changesOf(document, page, wish.changes, owner, { model, versions });
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
  readonly scrapedAt: string;
  readonly json?: unknown;
}

async function changesOf(
  document: Document,
  { url, text }: { readonly url: string; readonly text: string },
  { modes, tag, prompt, schema }: ChangeWish,
  owner: string,
  { model, versions }: Finishing,
): Promise<Record<string, unknown>> {
  const markdown = document.markdown ?? '';
  const wantsJson = model !== undefined && modes.includes('json');
  const shape = schema ?? { type: 'object' };
  const json = wantsJson ? (await extractBy(model, text, { prompt, schema: shape })).data : undefined;
  const version: Version = { markdown, scrapedAt: new Date().toISOString(), json };
  const kept = await versions.swap(`version ${owner} ${tag} ${url}`, JSON.stringify(version));
  const before = kept === undefined ? undefined : (JSON.parse(kept) as Version);
  const changeStatus = before === undefined ? 'new' : before.markdown === markdown ? 'same' : 'changed';
  return {
    previousScrapeAt: before?.scrapedAt ?? null,
    changeStatus,
    visibility: 'visible',
    ...(before &&
      changeStatus === 'changed' &&
      modes.includes('git-diff') && { diff: lineDiff(before.markdown, markdown) }),
    ...(before && wantsJson && { json: jsonChanges(before.json, json) }),
  };
}

function jsonChanges(before: unknown, now: unknown): Record<string, { previous: unknown; current: unknown }> {
  const one = (before ?? {}) as Record<string, unknown>;
  const other = (now ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const changed = names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
  return Object.fromEntries(
    changed.map((name) => [name, { previous: one[name] ?? null, current: other[name] ?? null }]),
  );
}
