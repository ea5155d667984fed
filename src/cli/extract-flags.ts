// Flags that turn a page into data: a schema of selectors, or a JSON Schema and a prompt for a model.
// Promise: a schema that cannot be used is refused before anything is fetched.
import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { RunConfig } from '../index.js';
import { UsageError } from './exit-codes.js';

export interface ModelFlags {
  readonly llmUrl?: string;
  readonly llmModel?: string;
  readonly llmKeyEnv?: string;
}

export interface ExtractFlags extends ModelFlags {
  readonly schema?: string;
  readonly prompt?: string;
}

export function addModelFlags(command: Command): Command {
  return command
    .option('--llm-url <URL>', 'an OpenAI-compatible endpoint')
    .option('--llm-model <NAME>', 'the model to ask there')
    .option('--llm-key-env <NAME>', 'the environment variable with its key');
}

export function addExtractFlags(command: Command): Command {
  return addModelFlags(
    command
      .option(
        '--schema <JSON>',
        'write data in place of the page: a schema of fields, or a JSON Schema for a model; a file or JSON',
      )
      .option('--prompt <TEXT>', 'what a model is to find; needs --llm-url and --llm-model'),
  );
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
    throw new UsageError(`--schema is neither a file nor valid JSON: ${(error as Error).message}`);
  }
}
