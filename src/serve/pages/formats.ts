// What a request asks of a page, from either version of the API, as one resolved wish.
// Promise: a combination that cannot work is refused before anything is fetched.
import type { Action, Format, ScrapeOptions } from '../api/schemas.js';
import { ApiError, setting } from '../errors.js';

export interface ScreenshotWish {
  readonly fullPage: boolean;
  readonly quality?: number | undefined;
  readonly viewport?: { readonly width: number; readonly height: number } | undefined;
}

export interface ModelWish {
  /** Where its answer goes in the document. */
  readonly field: 'json' | 'extract' | 'summary' | 'answer' | 'highlights';
  readonly prompt?: string | undefined;
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface ChangeWish {
  readonly modes: readonly ('git-diff' | 'json')[];
  readonly tag: string;
  /** The job that asks: what it does again after a crash is compared with the same version as before. */
  readonly by?: string | undefined;
  readonly prompt?: string | undefined;
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
}

/** A request's options, resolved. */
export interface PageWish {
  readonly plain: ReadonlySet<'markdown' | 'html' | 'rawHtml' | 'links' | 'images'>;
  readonly screenshot?: ScreenshotWish | undefined;
  readonly models: readonly ModelWish[];
  readonly changes?: ChangeWish | undefined;
  readonly attributes: readonly { readonly selector: string; readonly attribute: string }[];
  readonly actions: readonly Action[];
  readonly options: ScrapeOptions;
}

/** What the server can do beyond fetching. */
export interface Abilities {
  readonly browser: boolean;
  readonly scripts: boolean;
  readonly model: boolean;
}

const PROXIES = new Set(['basic', 'auto']);

export function pageWish(options: ScrapeOptions, abilities: Abilities, by?: string): PageWish {
  const plain = new Set<'markdown' | 'html' | 'rawHtml' | 'links' | 'images'>();
  const models: ModelWish[] = [];
  const attributes: { selector: string; attribute: string }[] = [];
  let screenshot: ScreenshotWish | undefined;
  let changes: ChangeWish | undefined;
  for (const given of options.formats ?? ['markdown']) {
    const format = typeof given === 'string' ? named(given, options) : given;
    switch (format.type) {
      case 'markdown':
      case 'html':
      case 'rawHtml':
      case 'links':
      case 'images':
        plain.add(format.type);
        break;
      case 'screenshot':
        screenshot = { ...format, fullPage: format.fullPage ?? false };
        break;
      case 'summary':
        models.push({ field: 'summary', prompt: SUMMARY });
        break;
      case 'json':
        if (!format.prompt && !format.schema) {
          throw new ApiError(400, 'The format "json" needs a "prompt", a "schema", or both.');
        }
        models.push({ ...format, field: options.jsonOptions || !options.extract ? 'json' : 'extract' });
        break;
      case 'question':
        models.push({ field: 'answer', prompt: format.question });
        break;
      case 'query':
        models.push({ field: 'answer', prompt: format.prompt });
        break;
      case 'highlights':
        models.push({ field: 'highlights', prompt: `${HIGHLIGHTS} ${format.query}` });
        break;
      case 'changeTracking':
        plain.add('markdown');
        changes = { ...format, modes: format.modes ?? [], tag: format.tag ?? '', by };
        break;
      case 'attributes':
        attributes.push(...format.selectors);
        break;
      default:
        format satisfies never;
    }
  }
  const wish = { plain, screenshot, models, changes, attributes, actions: options.actions ?? [], options };
  check(wish, abilities);
  return wish;
}

const SUMMARY = 'Summarise the page in one short paragraph.';
const HIGHLIGHTS = 'Quote, word for word, the passages of the page that answer this query:';

function named(name: Extract<Format, string>, options: ScrapeOptions): Exclude<Format, string> {
  if (name === 'screenshot@fullPage') return { type: 'screenshot', fullPage: true };
  if (name === 'extract' || name === 'json') return { type: 'json', ...(options.jsonOptions ?? options.extract) };
  if (name === 'changeTracking') return { type: name, ...options.changeTrackingOptions };
  if (name === 'attributes') throw new ApiError(400, 'The format "attributes" needs its "selectors".');
  return { type: name };
}

function check(wish: PageWish, abilities: Abilities): void {
  const { options, models, changes, actions } = wish;
  if (!abilities.model && (models.length > 0 || changes?.modes.includes('json'))) {
    throw setting('A model, which "json", "summary" and "question" need,', '--llm-url and --llm-model');
  }
  if (!abilities.scripts && actions.some(({ type }) => type === 'executeJavascript')) {
    throw setting('The action "executeJavascript"', '--allow-scripts');
  }
  if (!abilities.browser && needsBrowser(wish)) {
    throw new ApiError(
      501,
      'Screenshots, actions, waitFor and mobile need a browser. Install Chromium and the package playwright-core.',
      'BROWSER_MISSING',
    );
  }
  if (options.minAge !== undefined && needsBrowser(wish)) {
    throw new ApiError(
      400,
      'minAge answers from the cache, which has no screenshots, actions, waitFor or mobile pages.',
    );
  }
  if (options.proxy !== undefined && !PROXIES.has(options.proxy)) {
    throw new ApiError(400, `This server has no "${options.proxy}" proxy. Use "basic" or "auto".`, 'NOT_CONFIGURED');
  }
}

/** Whether only a browser can do it. */
export function needsBrowser({ options, screenshot, actions }: PageWish): boolean {
  return screenshot !== undefined || actions.length > 0 || (options.waitFor ?? 0) > 0 || options.mobile === true;
}
