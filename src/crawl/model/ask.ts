// PORT. A model that is asked a question and answers with text: any function fits, and any OpenAI-compatible endpoint.
// Promise: an endpoint's call has a time limit and a size limit; its key is in no message.
import { CrawlError } from '../../errors.js';
import type { HttpEngine } from '../../fetch/http/engine.js';
import { parseHttpUrl } from '../../request/url.js';
import { systemTime } from '../time.js';

/** What a model is asked. */
export interface ModelQuestion {
  /** What the model is to do, and in which form. */
  readonly system: string;
  /** The page's content: a stranger's text, never an instruction. */
  readonly user: string;
  /** The JSON Schema that the answer must fit; without one it is plain text. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** Most tokens of the answer. */
  readonly maxTokens: number;
  /** Ends the question when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** What it answers. */
export interface ModelAnswer {
  /** What the model wrote. */
  readonly text: string;
  /** By the endpoint's count; left out where it does not say. */
  readonly inputTokens?: number | undefined;
  /** By the endpoint's count; left out where it does not say. */
  readonly outputTokens?: number | undefined;
}

/**
 * Asks a model.
 *
 * @example
 * const ask: AskModel = async ({ system, user }) => ({ text: await Promise.resolve(`${system} ${user}`) }); // your SDK here
 */
export type AskModel = (question: ModelQuestion) => Promise<ModelAnswer>;

/** An OpenAI-compatible endpoint. */
export interface ModelEndpoint {
  /** Up to and with the version, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  /** The model's name at that endpoint. */
  readonly model: string;
  /** Sent as a bearer token, to this endpoint only. */
  readonly key?: string | undefined;
  /** Longest one answer may take. Default 120,000. */
  readonly timeoutMs?: number | undefined;
}

const MAX_ANSWER_BYTES = 8 * 1024 ** 2;
const RETRY_AFTER_MS = [1_000, 4_000];

/** Its address for questions. A query, such as an API version, stays. */
export function completionsOf(base: string): string {
  const url = parseHttpUrl(base);
  const path = withoutSlash(url.pathname);
  if (!path.endsWith('/chat/completions')) url.pathname = `${path}/chat/completions`;
  return url.href;
}

/** The endpoint as a function. Its host may be private, since it was configured; where it redirects to may not. */
export function modelAt(endpoint: ModelEndpoint): AskModel & { close(): Promise<void> } {
  const url = completionsOf(endpoint.url);
  let engine: Promise<HttpEngine> | undefined;
  const open = async (): Promise<HttpEngine> => {
    const { createHttpEngine } = await import('../../fetch/http/engine.js');
    const opened = createHttpEngine({});
    opened.allowHost(url);
    return opened;
  };

  async function send(question: ModelQuestion): Promise<{ status: number; body: string }> {
    const { key, model, timeoutMs = 120_000 } = endpoint;
    engine ??= open();
    return (await engine).visit(
      {
        url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(key && { authorization: `Bearer ${key}` }),
        },
        payload: JSON.stringify(bodyOf(model, question)),
        redirects: 'follow',
        maxRedirects: 3,
        timeoutMs,
        maxBodyBytes: MAX_ANSWER_BYTES,
        ignoreTlsErrors: false,
        ...(question.signal && { signal: question.signal }),
      },
      async ({ statusCode, body }) => ({ status: statusCode, body: body.toString('utf8') }),
    );
  }

  const ask: AskModel = async (question) => {
    for (let tries = 0; ; tries++) {
      const { status, body } = await send(question);
      if (status < 400) return answerIn(body);
      const pauseMs = status === 429 || status >= 500 ? RETRY_AFTER_MS[tries] : undefined;
      if (pauseMs === undefined) throw new CrawlError('MODEL_FAILED', `the model's endpoint answered ${status}`);
      await systemTime.wait(pauseMs, question.signal);
    }
  };
  return Object.assign(ask, { close: async () => (await engine)?.close() });
}

const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);

function bodyOf(model: string, { system, user, schema, maxTokens }: ModelQuestion): Record<string, unknown> {
  return {
    model,
    temperature: 0,
    max_tokens: maxTokens,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
  };
}

function answerIn(body: string): ModelAnswer {
  try {
    const { choices, usage } = JSON.parse(body) as {
      choices: { message: { content: string | null } }[];
      usage?: { prompt_tokens?: number; completion_tokens?: number };
    };
    const text = choices[0]!.message.content;
    if (typeof text !== 'string') throw new TypeError('no text');
    return { text, inputTokens: usage?.prompt_tokens, outputTokens: usage?.completion_tokens };
  } catch (cause) {
    throw new CrawlError('MODEL_FAILED', "the model's endpoint answered with something other than a chat completion", {
      cause,
    });
  }
}
