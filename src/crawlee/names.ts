// Types under the names that Crawlee's users know; each is another name for one of ours.
import type { CheerioAPI } from 'cheerio';
import type { StatusMessageCallbackParams } from '../crawl/options/options.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  QueueOperationInfo,
} from '../frontier/queue/request-queue.js';
import type { RequestQueueOpenOptions } from '../frontier/queue/request-queue.js';
import type {
  AnyData,
  Awaitable,
  BasicCrawlingContext,
  CheerioCrawlingContext,
  ErrorHandler,
  HttpCrawlingContext,
  HttpHook,
  RequestHandler,
} from '../handle/context.js';
import type { Dictionary } from '../request/request.js';

/** A handler of a `BasicCrawler`. */
export type BasicRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<BasicCrawlingContext<UserData>>;
/** A handler of an `HttpCrawler`. */
export type HttpRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<HttpCrawlingContext<UserData>>;
/** An error handler of an `HttpCrawler`. */
export type HttpErrorHandler<UserData extends Dictionary = AnyData> = ErrorHandler<HttpCrawlingContext<UserData>>;
/** A handler of a `CheerioCrawler`. */
export type CheerioRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<
  CheerioCrawlingContext<UserData>
>;
/** An error handler of a `CheerioCrawler`. */
export type CheerioErrorHandler<UserData extends Dictionary = AnyData> = ErrorHandler<CheerioCrawlingContext<UserData>>;
/** A navigation hook of a `CheerioCrawler`. */
export type CheerioHook<UserData extends Dictionary = AnyData> = HttpHook<CheerioCrawlingContext<UserData>>;
/** The type of `$`. */
export type CheerioRoot = CheerioAPI;
/** Crawlee's name of `AddRequestsBatchedOptions`. */
export type CrawlerAddRequestsOptions = AddRequestsBatchedOptions;
/** Crawlee's name of `AddRequestsBatchedResult`. */
export type CrawlerAddRequestsResult = AddRequestsBatchedResult;
/** Crawlee's name of `RequestQueueOpenOptions`. */
export type RequestQueueOptions = RequestQueueOpenOptions;
/** Crawlee's name of `QueueOperationInfo`. */
export type RequestQueueOperationInfo = QueueOperationInfo;
/** Called with the status of a crawl at intervals. */
export type StatusMessageCallback = (params: StatusMessageCallbackParams) => Awaitable<void>;
