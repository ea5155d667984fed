// The options of an extraction by a model, checked before the first request.
import { aFilledString, aFunction, anObject, anyOf, aWholeNumber, check, findProblems } from '../../option-checks.js';
import { oneOf, optionError } from '../../option-checks.js';
import { parseUrl } from '../../request/url.js';
import type { AskModel, ModelEndpoint } from './ask.js';

/** Who is asked about a page, and what for. */
export interface ModelExtraction {
  /** Who is asked: an OpenAI-compatible endpoint, or a function over any SDK. */
  readonly model: ModelEndpoint | AskModel;
  /** What the data is: a JSON Schema. Without one the answer is text. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** What to look for, in words. */
  readonly prompt?: string | undefined;
  /** Said to the model besides, such as a role or a tone. */
  readonly systemPrompt?: string | undefined;
  /** Most tokens of a page in one question; longer pages are asked about in chunks. Default 12,000. */
  readonly chunkTokens?: number | undefined;
  /** Most tokens per page; the rest is not read, and `isCut` is true. Default 100,000. */
  readonly maxTokens?: number | undefined;
  /** Most tokens of one answer. Default 4,096. */
  readonly maxAnswerTokens?: number | undefined;
  /** Ends the work when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

const aSignal = check('an AbortSignal', (value) => value instanceof AbortSignal);
const SHAPE = {
  engine: oneOf(['model']),
  model: anyOf(anObject, aFunction),
  schema: anObject,
  prompt: aFilledString,
  systemPrompt: aFilledString,
  chunkTokens: aWholeNumber({ from: 100 }),
  maxTokens: aWholeNumber({ from: 100 }),
  maxAnswerTokens: aWholeNumber({ from: 16 }),
  signal: aSignal,
};

const ENDPOINT_SHAPE = {
  url: check('an http or https URL', (value) => /^https?:$/.test(parseUrl(String(value))?.protocol ?? '')),
  model: aFilledString,
  key: aFilledString,
  timeoutMs: aWholeNumber({ from: 1 }),
};

/** Throws an OPTION_INVALID that names what is wrong. */
export function checkModelExtraction(given: ModelExtraction & { readonly engine: 'model' }): void {
  const problems = findProblems('extraction by a model', given, SHAPE);
  if (problems.length === 0 && given.model === undefined) problems.push('an extraction by a model needs "model"');
  if (problems.length === 0 && typeof given.model === 'object') {
    problems.push(...findProblems('the model', given.model, ENDPOINT_SHAPE));
    if (!given.model.url || !given.model.model) problems.push('a model needs its "url" and "model"');
  }
  if (given.prompt === undefined && given.schema === undefined) {
    problems.push('an extraction by a model needs a "prompt", a "schema", or both');
  }
  if (problems.length > 0) throw optionError(problems);
}
