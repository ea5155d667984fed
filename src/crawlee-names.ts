// Types under the names that Crawlee's users know; each is another name for one of ours.
import type { CheerioAPI } from 'cheerio';
import type { StatusMessageCallbackParams } from './crawl/options/options.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  QueueOperationInfo,
} from './frontier/queue/request-queue.js';
import type { RequestQueueOpenOptions } from './frontier/queue/request-queue.js';
import type {
  AnyData,
  Awaitable,
  BasicCrawlingContext,
  CheerioCrawlingContext,
  ErrorHandler,
  HttpCrawlingContext,
  HttpHook,
  RequestHandler,
} from './handle/context.js';
import type { Dictionary } from './request/request.js';

export type BasicRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<BasicCrawlingContext<UserData>>;
export type HttpRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<HttpCrawlingContext<UserData>>;
export type HttpErrorHandler<UserData extends Dictionary = AnyData> = ErrorHandler<HttpCrawlingContext<UserData>>;
export type CheerioRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<
  CheerioCrawlingContext<UserData>
>;
export type CheerioErrorHandler<UserData extends Dictionary = AnyData> = ErrorHandler<CheerioCrawlingContext<UserData>>;
export type CheerioHook<UserData extends Dictionary = AnyData> = HttpHook<CheerioCrawlingContext<UserData>>;
export type CheerioRoot = CheerioAPI;
export type CrawlerAddRequestsOptions = AddRequestsBatchedOptions;
export type CrawlerAddRequestsResult = AddRequestsBatchedResult;
export type RequestQueueOptions = RequestQueueOpenOptions;
export type RequestQueueOperationInfo = QueueOperationInfo;
export type StatusMessageCallback = (params: StatusMessageCallbackParams) => Awaitable<void>;
