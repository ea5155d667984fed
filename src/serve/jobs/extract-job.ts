// An extraction of the API: some pages, one question, one answer.
// Promise: the answer is the job's only result; a page that fails is left out and named in the job's errors.
import { extractBy } from '../../crawl/model/extract.js';
import type { ExtractRequest } from '../api/schemas.js';
import { setting } from '../errors.js';
import { pageWish } from '../pages/formats.js';
import type { JobRun, JobTools } from './runner.js';
import { batchKey, type Job } from './store.js';

const MAX_PAGE_CHARACTERS = 200_000;

export function startExtractJob(job: Job, tools: JobTools): JobRun {
  const { store, fetcher, model } = tools;
  const { prompt, schema, systemPrompt, scrapeOptions, showSources } = job.request as ExtractRequest;
  if (!model) throw setting('A model, which "extract" needs,', '--llm-url and --llm-model');
  return {
    async run(signal) {
      const wish = pageWish({ ...scrapeOptions, formats: ['markdown'] }, fetcher.abilities);
      const texts: string[] = [];
      const sources: string[] = [];
      async function* urls() {
        yield* (await store.pages.pending(job.id, 0, 100)).urls;
      }
      const how = { concurrency: 5, signal, owner: job.owner };
      for await (const { index, url, document, error } of fetcher.scrapeMany(urls(), wish, how)) {
        if (document) {
          texts.push(`# ${url}\n\n${(document.markdown ?? '').slice(0, MAX_PAGE_CHARACTERS)}`);
          sources.push(url);
        } else {
          const trouble = {
            id: String(index),
            timestamp: new Date().toISOString(),
            url,
            code: error!.code,
            error: error!.message,
          };
          await store.pages.put(job.id, [{ kind: 'error', key: batchKey(index), error: trouble }]);
        }
      }
      if (signal.aborted || texts.length === 0) return;
      const shape = schema ?? { type: 'object' };
      const answer = await extractBy(model, texts.join('\n\n'), { prompt, schema: shape, systemPrompt, signal });
      const result = {
        data: answer.data,
        tokensUsed: answer.inputTokens + answer.outputTokens,
        ...(showSources && { sources }),
      };
      await store.pages.put(job.id, [{ kind: 'document', key: 'answer', document: JSON.stringify(result) }]);
    },
    total: async () => undefined,
    setShare: () => undefined,
  };
}
