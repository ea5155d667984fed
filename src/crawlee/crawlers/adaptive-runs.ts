// How Crawlee's AdaptivePlaywrightCrawler judges pages: a predictor says whether a page needs a browser, and now and then
// the handler runs both ways, and what it did is compared. Promise: only the run of the visit itself stores anything.
import type { CheerioAPI } from 'cheerio';
import { isDeepStrictEqual } from 'node:util';
import type { Configuration } from '../../configuration.js';
import { PageWanted } from '../../crawl/navigate/adaptive.js';
import type { RenderingMemory } from '../../crawl/navigate/rendering.js';
import { CriticalError } from '../../errors.js';
import type { AdaptivePlaywrightCrawlingContext } from '../../handle/browser-context.js';
import { loadDocument } from '../../handle/document.js';
import type { BatchAddRequestsResult, EnqueueLinksOptions, RequestSink } from '../../handle/enqueue-links.js';
import { LogLevel } from '../../observe/log.js';
import type { Dictionary, Source } from '../../request/request.js';
import { cheerioCrawlerEnqueueLinks } from '../links/enqueue.js';
import { RequestHandlerResult } from '../requests/request-handler-result.js';
import { type RenderingType, RenderingTypePredictor } from './rendering-type-predictor.js';

/** What decides how a page is rendered. */
export interface RenderingOptions {
  /** How often the handler runs both ways, from 0 to 1. Default 0.1. */
  renderingTypeDetectionRatio?: number | undefined;
  /** Says which pages need a browser, in place of what their bytes tell. */
  renderingTypePredictor?:
    (Pick<RenderingTypePredictor, 'predict' | 'storeResult'> & { initialize?(): Promise<void> }) | undefined;
  /** False: what the handler did without a browser is not good enough. */
  resultChecker?: ((result: RequestHandlerResult) => boolean) | undefined;
  /** Whether the two runs of a handler did the same. Default: they pushed the same items. */
  resultComparator?:
    | ((first: RequestHandlerResult, second: RequestHandlerResult) => boolean | 'equal' | 'different' | 'inconclusive')
    | undefined;
  /** Whether an error without a browser is one of the visit; else the page is loaded in a browser. Default: no. */
  shouldPropagateError?: ((error: Error, context: never) => boolean | Promise<boolean>) | undefined;
}

type Context = AdaptivePlaywrightCrawlingContext;
type Handler = (context: Context) => unknown;

/** Counted in `crawler.stats.state`. */
export interface RenderingCounts {
  httpOnlyRequestHandlerRuns?: number;
  browserRequestHandlerRuns?: number;
  renderingTypeMispredictions?: number;
}

const STATE_KEY = 'CRAWLEE_STATE';
const DEFAULT_RATIO = 0.1;
/** Predictions under way; more are forgotten, and their pages not compared. */
const MAX_PREDICTIONS = 10_000;

/** Runs a crawler's handler as these options say. */
export interface AdaptiveRuns {
  /** Decides where a page is loaded; undefined: its bytes do. */
  readonly memory: RenderingMemory | undefined;
  initialize(): Promise<void>;
  run(context: Context, handler: Handler, counts: RenderingCounts): Promise<void>;
}

export function createAdaptiveRuns(options: RenderingOptions, config: Configuration): AdaptiveRuns {
  const { renderingTypeDetectionRatio: ratio, resultChecker = () => true, resultComparator } = options;
  const predicts = options.renderingTypePredictor ?? ratio ?? resultComparator;
  const predictor: RenderingOptions['renderingTypePredictor'] =
    options.renderingTypePredictor ??
    (predicts === undefined ? undefined : new RenderingTypePredictor({ detectionRatio: ratio ?? DEFAULT_RATIO }));
  /** Of pages under way, by URL: a page that is sent for twice is judged once. */
  const predictions = new Map<string, { isDetection: boolean; expected: 'browser' | 'static' }>();

  const memory: RenderingMemory | undefined = predictor && {
    expected(url, label) {
      const known = predictions.get(url);
      if (known) return known.expected;
      const { renderingType, detectionProbabilityRecommendation } = predictor.predict({ url, label });
      const isDetection = Math.random() < detectionProbabilityRecommendation;
      const expected = isDetection || renderingType === 'clientOnly' ? 'browser' : 'static';
      if (predictions.size >= MAX_PREDICTIONS) predictions.delete(predictions.keys().next().value!);
      predictions.set(url, { isDetection, expected });
      return expected;
    },
    learn: () => undefined,
  };

  function judge(withoutBrowser: RequestHandlerResult, inBrowser: RequestHandlerResult): RenderingType | undefined {
    if (resultComparator) {
      const verdict = resultComparator(withoutBrowser, inBrowser);
      if (verdict === 'inconclusive') return undefined;
      return verdict === true || verdict === 'equal' ? 'static' : 'clientOnly';
    }
    const isSame = options.resultChecker
      ? resultChecker(withoutBrowser)
      : isDeepStrictEqual(withoutBrowser.datasetItems, inBrowser.datasetItems);
    return isSame ? 'static' : 'clientOnly';
  }

  async function detect(context: Context, handler: Handler, inBrowser: RequestHandlerResult, counts: RenderingCounts) {
    const result = new RequestHandlerResult(config, STATE_KEY);
    let found: RenderingType | undefined = 'clientOnly';
    count(counts, 'httpOnlyRequestHandlerRuns');
    try {
      await handler(await fetched(context, result));
      found = judge(result, inBrowser);
    } catch (error) {
      context.log.debug(`without a browser the handler failed: ${(error as Error).message}`);
    }
    if (found) predictor?.storeResult(context.request, found);
  }

  return {
    memory,
    initialize: async () => predictor?.initialize?.(),
    async run(context, handler, counts) {
      const result = new RequestHandlerResult(config, STATE_KEY);
      const { isDetection = false } = predictions.get(context.request.url) ?? {};
      predictions.delete(context.request.url);
      if (context.renderingType === 'browser') {
        count(counts, 'browserRequestHandlerRuns');
        await handler(recorded(context, result));
        if (isDetection) await detect(context, handler, result, counts);
        return;
      }
      count(counts, 'httpOnlyRequestHandlerRuns');
      try {
        // Who checks results gets them as they are: then a selector that is not in the HTML is an empty selection.
        if (options.resultChecker) selectingPlainly(context);
        await handler(recorded(context, result));
      } catch (error) {
        if (error instanceof PageWanted || error instanceof CriticalError) throw error;
        if (await options.shouldPropagateError?.(error as Error, context as never)) throw error;
        count(counts, 'renderingTypeMispredictions');
        throw new PageWanted(`without a browser the handler failed: ${(error as Error).message}`);
      }
      if (resultChecker(result)) return;
      count(counts, 'renderingTypeMispredictions');
      throw new PageWanted('the result without a browser was not accepted');
    },
  };
}

function count(counts: RenderingCounts, name: keyof RenderingCounts): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function selectingPlainly(context: Context): void {
  const querySelector = async (selector: string) => (await context.parseWithCheerio())(selector);
  Object.defineProperty(context, 'querySelector', { value: querySelector, configurable: true });
}

/** The context, with a record of what the handler does through it. */
function recorded(context: Context, result: RequestHandlerResult): Context {
  const { pushData, addRequests, enqueueLinks } = context;
  const more = {
    pushData: async (...args: Parameters<typeof pushData>) => {
      await result.pushData(args[0], args[1] as string | undefined);
      return pushData(...args);
    },
    addRequests: async (...args: Parameters<typeof addRequests>) => {
      await result.addRequests(args[0] as never, args[1]);
      return addRequests(...args);
    },
    enqueueLinks: (options: EnqueueLinksOptions = {}) =>
      enqueueLinks({ ...options, transformRequestFunction: noted(options, result) }),
  };
  return Object.defineProperties(context, Object.getOwnPropertyDescriptors(more)) as Context;
}

type Transform = NonNullable<EnqueueLinksOptions['transformRequestFunction']>;

/** A transformation that also notes what becomes a request. */
function noted({ transformRequestFunction, label }: EnqueueLinksOptions, result: RequestHandlerResult): Transform {
  return (request) => {
    const made = transformRequestFunction ? transformRequestFunction(request) : request;
    const { url, label: own = label } = (made || {}) as { url?: string; label?: string };
    if (url !== undefined) void result.addRequests([{ url, ...(own === undefined ? {} : { label: own }) }]);
    return made;
  };
}

/** The context as it would be without a browser, of which nothing is stored. */
async function fetched(context: Context, result: RequestHandlerResult): Promise<Context> {
  const { request } = context;
  const response = await context.sendRequest({ url: request.loadedUrl ?? request.url });
  const $ = loadDocument(String(response.body));
  const parsed = async (selector?: string): Promise<CheerioAPI> => {
    if (selector !== undefined && $(selector).length === 0) throw new PageWanted(`"${selector}" is not in the HTML`);
    return $;
  };
  const queue: RequestSink = {
    async addRequestsBatched(requests: readonly Source[]) {
      await result.addRequests(requests as never);
      return { addedRequests: [], waitForAllRequestsToBeAdded: Promise.resolve([]) };
    },
  } as never;
  const changes: Dictionary = {
    renderingType: 'static',
    response,
    log: context.log.child({ level: LogLevel.OFF }),
    parseWithCheerio: parsed,
    waitForSelector: async (selector: string) => void (await parsed(selector)),
    querySelector: async (selector: string) => (await parsed(selector))(selector),
    pushData: result.pushData,
    addRequests: result.addRequests,
    useState: result.useState,
    getKeyValueStore: result.getKeyValueStore,
    enqueueLinks: (options: EnqueueLinksOptions = {}): Promise<BatchAddRequestsResult> =>
      cheerioCrawlerEnqueueLinks({
        $,
        options,
        requestQueue: queue,
        originalRequestUrl: request.url,
        ...(request.loadedUrl === undefined ? {} : { finalRequestUrl: request.loadedUrl }),
      }),
  };
  const page: PropertyDescriptor = {
    get() {
      throw new PageWanted('the handler asked for "page"');
    },
  };
  return Object.create(context, { ...Object.getOwnPropertyDescriptors(changes), page }) as Context;
}
