// Flags that turn a page into data: a schema of selectors, or a JSON Schema and a prompt for a model.
// Promise: a schema that cannot be used is refused before anything is fetched.
import { existsSync, readFileSync } from 'node:fs';
import type { RunConfig } from '../../index.js';
import { UsageError } from '../exit-codes.js';
import { shown } from '../terminal.js';

export interface ModelFlags {
  readonly llmUrl?: string;
  readonly llmModel?: string;
  readonly llmKeyEnv?: string;
}

export interface ExtractFlags extends ModelFlags {
  readonly schema?: string;
  readonly prompt?: string;
}

/** The endpoint that the flags name. */
export function modelOf({ llmUrl, llmModel, llmKeyEnv }: ModelFlags) {
  if (llmUrl === undefined && llmModel === undefined) return undefined;
  if (llmUrl === undefined || llmModel === undefined) {
    throw new UsageError('--llm-url and --llm-model belong together: give both');
  }
  const key = llmKeyEnv === undefined ? undefined : process.env[llmKeyEnv];
  if (llmKeyEnv !== undefined && !key) throw new UsageError(`--llm-key-env: the environment has no ${llmKeyEnv}`);
  return { url: llmUrl, model: llmModel, ...(key && { key }) };
}

export function extractOf(flags: ExtractFlags): Pick<RunConfig, 'extract'> {
  const schema = flags.schema === undefined ? undefined : readSchema(flags.schema);
  if (schema && 'engine' in schema) return { extract: schema as never };
  // Fields by selectors, as most people write them.
  if (schema && 'fields' in schema) return { extract: { engine: 'css', ...schema } as never };
  if (schema === undefined && flags.prompt === undefined) return {};
  const model = modelOf(flags);
  if (!model) throw new UsageError('a JSON Schema or a --prompt needs a model: give --llm-url and --llm-model');
  return { extract: { engine: 'model', model, prompt: flags.prompt, schema } };
}

function readSchema(given: string): Record<string, unknown> {
  const text = given.trimStart().startsWith('{') || !existsSync(given) ? given : readFileSync(given, 'utf8');
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    if (text === given && !/^\s*[[{"]/.test(given)) throw new UsageError(`--schema: file not found: "${shown(given)}"`);
    throw new UsageError(`--schema is neither a file nor valid JSON: ${(error as Error).message}`);
  }
}

/** The name of a schema's field in tables and in --fields. */
export const columnOf = (field: string): string => `extracted.${field}`;

/** A column per field of a schema; none for lists of items and for models, whose fields are not known before. */
export function columnsOf(extract: RunConfig['extract']): string[] {
  if (extract === undefined || extract.engine === 'model' || extract.items !== undefined) return [];
  return Object.keys(extract.fields ?? {}).map(columnOf);
}

/** What was extracted from a page, by column. */
export function asColumns(extracted: unknown): Readonly<Record<string, unknown>> {
  if (typeof extracted !== 'object' || extracted === null) return {};
  return Object.fromEntries(Object.entries(extracted).map(([field, value]) => [columnOf(field), value]));
}
