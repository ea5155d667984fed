// The selectors of --selector and --schema.
// Promise: one that is not valid is named before anything is fetched.
import { CrawlError } from '../../errors.js';
import { checkSchema, type ExtractSchema, type FieldSchema } from '../../extract/fields/fields.js';
import { parseXPath } from '../../extract/fields/xpath.js';
import { type ExtractFlags, extractOf } from './extract.js';

export async function checkSelectors(flags: ExtractFlags & { readonly selector?: string }): Promise<void> {
  if (flags.selector !== undefined) await checkCss('--selector', flags.selector);
  const { extract } = extractOf(flags);
  if (extract === undefined || extract.engine === 'model') return;
  checkSchema(extract);
  for (const [name, selector] of selectorsOf(extract)) {
    if (extract.engine === 'css') await checkCss(`--schema: ${name}`, selector);
    else if (extract.engine === 'xpath') parseXPath(selector);
  }
}

/** Every selector of a schema, with its place. */
function* selectorsOf({ items, fields }: ExtractSchema): Generator<[string, string]> {
  if (items !== undefined) yield ['items', items];
  yield* fieldSelectors(fields, 'fields');
}

function* fieldSelectors(fields: Readonly<Record<string, FieldSchema>>, place: string): Generator<[string, string]> {
  for (const [name, { selector, fields: inner }] of Object.entries(fields)) {
    if (selector !== undefined) yield [`${place}.${name}`, selector];
    if (inner !== undefined) yield* fieldSelectors(inner, `${place}.${name}`);
  }
}

async function checkCss(name: string, selector: string): Promise<void> {
  const { load } = await import('cheerio');
  try {
    load('')(selector);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = name.startsWith('--schema') && selector.startsWith('/') ? '. For XPath, add "engine": "xpath"' : '';
    throw new CrawlError('OPTION_INVALID', `${name} "${selector}" is not a valid CSS selector: ${why}${hint}`);
  }
}
