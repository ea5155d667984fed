// Checks `userData` against a schema of any library that speaks Standard Schema (zod, valibot, arktype).
// Promise: what the handler sees is what the schema returned, with its label; a mismatch names every field.
import { RequestValidationError } from '../errors.js';
import type { Dictionary } from '../request/request.js';

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** A schema by the Standard Schema convention, as far as a router needs it. */
export interface UserDataSchema<Output = unknown> {
  /** The convention: who made the schema, and how it validates. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export function isSchema(value: unknown): value is UserDataSchema {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isHolder && '~standard' in value;
}

/** `userData` as the schema returns it. A label is ours: a schema that does not know it need not allow it. */
export async function checkUserData(
  schema: UserDataSchema,
  userData: Dictionary,
  label: string | undefined,
): Promise<Dictionary> {
  const { label: _, ...rest } = userData;
  const { validate } = schema['~standard'];
  let result = await validate(rest);
  // A schema that declares the label itself wants to see it.
  if (result.issues && label !== undefined) result = await validate({ ...rest, label });
  if (result.issues) {
    const lines = result.issues.map(({ path, message }) => `- ${pathText(path)}${message}`);
    throw new RequestValidationError(
      `Request userData for label '${label ?? 'default'}' failed schema validation:\n${lines.join('\n')}`,
      { issues: result.issues, ...(label === undefined ? {} : { label }) },
    );
  }
  const value = result.value as Dictionary;
  return label === undefined ? value : { ...value, label };
}

function pathText(path: SchemaIssue['path']): string {
  if (!path || path.length === 0) return '';
  return `${path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')}: `;
}
