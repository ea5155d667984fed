// The router: a request's label chooses its handler. It is itself a request handler, so it can be given
// to any crawler; middlewares run first, in order.
import { CrawlError, MissingRouteError } from '../errors.js';
import type { Dictionary, Request } from '../request/request.js';
import type {
  Awaitable,
  BasicCrawlingContext,
  CheerioCrawlingContext,
  FileDownloadCrawlingContext,
  HttpCrawlingContext,
  LoadedRequest,
} from './context.js';
import type { AdaptivePlaywrightCrawlingContext, PlaywrightCrawlingContext } from './browser-context.js';

/** The context of a route, its user data typed by the label. */
export type RouteContext<Context, UserData extends Dictionary> = Omit<Context, 'request'> & {
  request: LoadedRequest<Request<UserData>>;
};

type AnyRoutes<Context> = Record<string, Context extends { request: Request<infer UserData> } ? UserData : Dictionary>;

/** A declared map of labels accepts only its labels; an open one accepts any. */
export type RouterLabel<Routes> = string extends keyof Routes ? string | symbol : (keyof Routes & string) | symbol;

/** A handler per label. */
export type RouterRoutes<Context, Routes extends Record<keyof Routes, Dictionary>> = {
  [Label in keyof Routes]: (context: RouteContext<Context, Routes[Label]>) => Awaitable<void>;
};

type Handle = (context: never) => Awaitable<void>;

/**
 * Chooses a handler by `request.label`.
 *
 * @example
 * const router = createCheerioRouter();
 * router.addDefaultHandler(async ({ enqueueLinks }) => { await enqueueLinks({ label: 'DETAIL' }); });
 * router.addHandler('DETAIL', async ({ $, pushData }) => { await pushData({ title: $('h1').text() }); });
 * await new CheerioCrawler({ requestHandler: router }).run(['https://example.com']);
 */
export class Router<
  Context extends { request: Request } = BasicCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
> {
  readonly #routes = new Map<string | symbol, Handle>();
  readonly #middlewares: Handle[] = [];
  #defaultHandler: Handle | undefined;

  /** Made by `Router.create()`, which returns it as a callable handler. */
  protected constructor() {}

  /** Registers the handler of a label. */
  addHandler<Label extends RouterLabel<Routes>>(
    label: Label,
    handler: (
      context: RouteContext<Context, Label extends keyof Routes ? Routes[Label] : Dictionary>,
    ) => Awaitable<void>,
  ): void;
  addHandler<UserData extends Dictionary>(
    label: RouterLabel<Routes>,
    handler: (context: RouteContext<Context, UserData>) => Awaitable<void>,
  ): void;
  addHandler(label: string | symbol, handler: Handle): void {
    expectFunction(handler, `the handler of label "${String(label)}"`);
    if (this.#routes.has(label)) {
      throw new CrawlError('OPTION_INVALID', `label "${String(label)}" already has a handler`);
    }
    this.#routes.set(label, handler);
  }

  /** Registers the handler of requests whose label has none of its own. */
  addDefaultHandler<UserData extends Dictionary = Dictionary>(
    handler: (context: RouteContext<Context, UserData>) => Awaitable<void>,
  ): void {
    expectFunction(handler, 'the default handler');
    if (this.#defaultHandler) throw new CrawlError('OPTION_INVALID', 'the router already has a default handler');
    this.#defaultHandler = handler as Handle;
  }

  /** Runs before every handler, in the order of registration. */
  use(middleware: (context: Context) => Awaitable<void>): void {
    expectFunction(middleware, 'a middleware');
    this.#middlewares.push(middleware as Handle);
  }

  /** The handler of a label, or the default one; throws MissingRouteError when there is neither. */
  getHandler(label?: string | symbol): (context: Context) => Awaitable<void> {
    const handler = (label === undefined ? undefined : this.#routes.get(label)) ?? this.#defaultHandler;
    if (!handler) {
      const wanted = label === undefined ? 'requests without a label' : `label "${String(label)}"`;
      throw new MissingRouteError(
        `the router has no handler for ${wanted} and no default handler: add one with addHandler or addDefaultHandler`,
      );
    }
    return handler as (context: Context) => Awaitable<void>;
  }

  /** Runs the middlewares and the handler that the request's label chooses. */
  async route(context: Context): Promise<void> {
    const handler = this.getHandler(context.request.label);
    for (const middleware of this.#middlewares) await middleware(context as never);
    await handler(context);
  }

  /** A new router that can be called as a request handler. */
  static create<
    Context extends { request: Request } = BasicCrawlingContext,
    Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
  >(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
    const router = new Router<Context, Routes>();
    for (const [label, handler] of Object.entries(routes ?? {})) {
      router.addHandler(label as RouterLabel<Routes>, handler as never);
    }
    const handle = (context: Context) => router.route(context);
    return Object.assign(handle, {
      addHandler: router.addHandler.bind(router),
      addDefaultHandler: router.addDefaultHandler.bind(router),
      use: router.use.bind(router),
      getHandler: router.getHandler.bind(router),
      route: router.route.bind(router),
    }) as RouterHandler<Context, Routes>;
  }
}

/** A router that is a request handler too. */
export interface RouterHandler<
  Context extends { request: Request } = BasicCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
> extends Pick<Router<Context, Routes>, 'addHandler' | 'addDefaultHandler' | 'use' | 'getHandler' | 'route'> {
  (context: Context): Promise<void>;
}

function expectFunction(value: unknown, what: string): void {
  if (typeof value !== 'function') throw new CrawlError('OPTION_INVALID', `${what} must be a function`);
}

/**
 * A router for BasicCrawler.
 *
 * @example
 * const router = createBasicRouter();
 * router.addDefaultHandler(async ({ sendRequest, pushData }) => pushData({ body: (await sendRequest()).body }));
 */
export function createBasicRouter<
  Context extends BasicCrawlingContext = BasicCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
>(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
  return Router.create<Context, Routes>(routes);
}

/**
 * A router for HttpCrawler.
 *
 * @example
 * const router = createHttpRouter();
 * router.addHandler('DETAIL', async ({ content, pushData }) => pushData({ title: content.title }));
 */
export function createHttpRouter<
  Context extends HttpCrawlingContext = HttpCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
>(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
  return Router.create<Context, Routes>(routes);
}

/**
 * A router for CheerioCrawler, typed by label when a map of labels is given.
 *
 * @example
 * const router = createCheerioRouter();
 * router.addDefaultHandler(async ({ enqueueLinks }) => void (await enqueueLinks({ label: 'DETAIL' })));
 * router.addHandler('DETAIL', async ({ $, pushData }) => pushData({ heading: $('h1').text() }));
 * await new CheerioCrawler({ requestHandler: router }).run(['https://example.com']);
 */
export function createCheerioRouter<
  Context extends CheerioCrawlingContext = CheerioCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
>(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
  return Router.create<Context, Routes>(routes);
}

/**
 * A router for PlaywrightCrawler.
 *
 * @example
 * const router = createPlaywrightRouter();
 * router.addHandler('DETAIL', async ({ page, pushData }) => pushData({ title: await page.title() }));
 */
export function createPlaywrightRouter<
  Context extends PlaywrightCrawlingContext = PlaywrightCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
>(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
  return Router.create<Context, Routes>(routes);
}

/**
 * A router for AdaptivePlaywrightCrawler.
 *
 * @example
 * const router = createAdaptivePlaywrightRouter();
 * router.addDefaultHandler(async ({ parseWithCheerio, pushData }) => {
 *   const $ = await parseWithCheerio('h1');
 *   await pushData({ heading: $('h1').text() });
 * });
 */
export function createAdaptivePlaywrightRouter<
  Context extends AdaptivePlaywrightCrawlingContext = AdaptivePlaywrightCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
>(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
  return Router.create<Context, Routes>(routes);
}

/**
 * A router for FileDownload.
 *
 * @example
 * const router = createFileRouter();
 * router.addDefaultHandler(async ({ body, log }) => log.info(`${body.length} bytes`));
 */
export function createFileRouter<
  Context extends FileDownloadCrawlingContext = FileDownloadCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
>(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes> {
  return Router.create<Context, Routes>(routes);
}
