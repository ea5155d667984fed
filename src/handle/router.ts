// The router: a request's label chooses its handler. It is itself a request handler, so it can be given
// to any crawler; middlewares run first, in order.
import { CrawlError, MissingRouteError } from '../errors.js';
import { checkUserData, isSchema, type UserDataSchema } from './user-data-schema.js';
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
  /** The request with its `label` and `userData`. */
  request: LoadedRequest<Request<UserData>>;
};

type AnyRoutes<Context> = Record<string, Context extends { request: Request<infer UserData> } ? UserData : Dictionary>;

/** A declared map of labels accepts only its labels; an open one accepts any. */
export type RouterLabel<Routes> = string extends keyof Routes ? string | symbol : (keyof Routes & string) | symbol;

/** A handler per label. */
export type RouterRoutes<Context, Routes extends Record<keyof Routes, Dictionary>> = {
  [Label in keyof Routes]: (context: RouteContext<Context, Routes[Label]>) => Awaitable<void>;
};

/**
 * The key of the default route in a map of handlers or schemas.
 *
 * @example
 * const router = createCheerioRouter({ [defaultRoute]: async ({ log }) => log.info('no label') });
 */
export const defaultRoute: unique symbol = Symbol('default route');

/** A schema of `userData` per label (zod, valibot, arktype: any Standard Schema). */
export type RouteSchemas = Record<string | symbol, UserDataSchema>;

/** What the schemas make of `userData`, by label. */
export type RoutesFromSchemas<Schemas extends RouteSchemas> = {
  [Label in keyof Schemas & string]: Schemas[Label] extends UserDataSchema<infer Output extends Dictionary>
    ? Output
    : Dictionary;
};

/** What holds for one route only; the last argument of `addHandler` and `addDefaultHandler`. */
export interface RouteOptions {
  /** The longest that this route's handler may take, in place of the crawler's. */
  requestHandlerTimeoutSecs?: number;
}

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
  /** Schemas of `userData`, by label. */
  readonly schemas = new Map<string | symbol, UserDataSchema>();
  readonly #middlewares: Handle[] = [];
  readonly #timeouts = new Map<string | symbol, number>();
  #defaultHandler: Handle | undefined;

  /** Made by `Router.create()`, which returns it as a callable handler. */
  protected constructor() {}

  /** Registers the handler of a label. */
  addHandler<Label extends RouterLabel<Routes>>(
    label: Label,
    handler: (
      context: RouteContext<Context, Label extends keyof Routes ? Routes[Label] : Dictionary>,
    ) => Awaitable<void>,
    options?: RouteOptions,
  ): void;
  /** Registers the handler of a label, whose `userData` has this type. */
  addHandler<UserData extends Dictionary>(
    label: RouterLabel<Routes>,
    handler: (context: RouteContext<Context, UserData>) => Awaitable<void>,
    options?: RouteOptions,
  ): void;
  /** Registers the handler of a label, whose `userData` is checked by a schema. */
  addHandler<Output extends Dictionary>(
    label: RouterLabel<Routes>,
    schema: UserDataSchema<Output>,
    handler: (context: RouteContext<Context, Output>) => Awaitable<void>,
    options?: RouteOptions,
  ): void;
  addHandler(
    label: string | symbol,
    second: Handle | UserDataSchema,
    third?: Handle | RouteOptions,
    fourth?: RouteOptions,
  ): void {
    const handler = (isSchema(second) ? third : second) as Handle;
    const options = isSchema(second) ? fourth : (third as RouteOptions | undefined);
    expectFunction(handler, `the handler of label "${String(label)}"`);
    if (this.#routes.has(label)) {
      throw new CrawlError('OPTION_INVALID', `label "${String(label)}" already has a handler`);
    }
    this.#routes.set(label, handler);
    this.#keepTimeout(label, options);
    if (isSchema(second)) this.schemas.set(label, second);
  }

  /** Registers the handler of requests whose label has none of its own. */
  addDefaultHandler<UserData extends Dictionary = Dictionary>(
    handler: (context: RouteContext<Context, UserData>) => Awaitable<void>,
    options?: RouteOptions,
  ): void {
    expectFunction(handler, 'the default handler');
    if (this.#defaultHandler) throw new CrawlError('OPTION_INVALID', 'the router already has a default handler');
    this.#defaultHandler = handler as Handle;
    this.#keepTimeout(defaultRoute, options);
  }

  #keepTimeout(label: string | symbol, { requestHandlerTimeoutSecs: secs }: RouteOptions = {}): void {
    if (secs === undefined) return;
    if (typeof secs !== 'number' || !(secs > 0)) {
      throw new CrawlError('OPTION_INVALID', `requestHandlerTimeoutSecs of label "${String(label)}" must be above 0`);
    }
    this.#timeouts.set(label, secs);
  }

  /** The longest that the handler of a label may take; undefined: as long as the crawler says. */
  getTimeoutSecs(label?: string | symbol): number | undefined {
    if (label !== undefined && this.#routes.has(label)) return this.#timeouts.get(label);
    return this.#timeouts.get(defaultRoute);
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

  /** The schema of a label's `userData`; that of the default route where the label has no handler of its own. */
  getSchema(label?: string | symbol): UserDataSchema | undefined {
    const own = label === undefined ? undefined : this.schemas.get(label);
    if (own || (label !== undefined && this.#routes.has(label))) return own;
    return this.schemas.get(defaultRoute);
  }

  /** Checks `userData` against the label's schema, then runs the middlewares and the handler that the label chooses. */
  async route(context: Context): Promise<void> {
    const { request } = context;
    const handler = this.getHandler(request.label);
    const schema = this.getSchema(request.label);
    if (schema) request.userData = await checkUserData(schema, request.userData, request.label);
    for (const middleware of this.#middlewares) await middleware(context as never);
    await handler(context);
  }

  /** A new router that can be called as a request handler. */
  static create<
    Context extends { request: Request } = BasicCrawlingContext,
    Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
  >(routes?: RouterRoutes<Context, Routes>): RouterHandler<Context, Routes>;
  /** A new router whose labels have schemas of their `userData`. */
  static create<
    Context extends { request: Request } = BasicCrawlingContext,
    const Schemas extends RouteSchemas = RouteSchemas,
  >(schemas: Schemas): RouterHandler<Context, RoutesFromSchemas<Schemas>>;
  static create(routes: Record<string | symbol, Handle | UserDataSchema> = {}): unknown {
    type Context = BasicCrawlingContext;
    const router = new Router<Context>();
    for (const label of Reflect.ownKeys(routes)) {
      const given = routes[label]!;
      if (isSchema(given)) router.schemas.set(label, given);
      else if (label === defaultRoute) router.addDefaultHandler(given as never);
      else router.addHandler(label, given as never);
    }
    const handle = (context: Context) => router.route(context);
    return Object.assign(handle, {
      addHandler: router.addHandler.bind(router),
      addDefaultHandler: router.addDefaultHandler.bind(router),
      use: router.use.bind(router),
      getHandler: router.getHandler.bind(router),
      getSchema: router.getSchema.bind(router),
      getTimeoutSecs: router.getTimeoutSecs.bind(router),
      schemas: router.schemas,
      route: router.route.bind(router),
    });
  }
}

/** A router that is a request handler too. */
export interface RouterHandler<
  Context extends { request: Request } = BasicCrawlingContext,
  Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>,
> extends Pick<
  Router<Context, Routes>,
  'addHandler' | 'addDefaultHandler' | 'use' | 'getHandler' | 'getSchema' | 'getTimeoutSecs' | 'schemas' | 'route'
> {
  (context: Context): Promise<void>;
}

function expectFunction(value: unknown, what: string): void {
  if (typeof value !== 'function') throw new CrawlError('OPTION_INVALID', `${what} must be a function`);
}

/** Makes a router for a kind of context: from handlers by label, or from schemas of `userData` by label. */
export interface CreateRouter<Kind extends { request: Request }> {
  <Context extends Kind = Kind, Routes extends Record<keyof Routes, Dictionary> = AnyRoutes<Context>>(
    routes?: RouterRoutes<Context, Routes>,
  ): RouterHandler<Context, Routes>;
  <Context extends Kind = Kind, const Schemas extends RouteSchemas = RouteSchemas>(
    schemas: Schemas,
  ): RouterHandler<Context, RoutesFromSchemas<Schemas>>;
}

const create = (routes?: object): never => Router.create(routes as never) as never;

/**
 * A router for BasicCrawler.
 *
 * @example
 * const router = createBasicRouter();
 * router.addDefaultHandler(async ({ sendRequest, pushData }) => pushData({ body: (await sendRequest()).body }));
 */
export const createBasicRouter: CreateRouter<BasicCrawlingContext> = create;

/**
 * A router for HttpCrawler.
 *
 * @example
 * const router = createHttpRouter();
 * router.addHandler('DETAIL', async ({ content, pushData }) => pushData({ title: content.title }));
 */
export const createHttpRouter: CreateRouter<HttpCrawlingContext> = create;

/**
 * A router for CheerioCrawler, typed by label when a map of labels is given.
 *
 * @example
 * const router = createCheerioRouter();
 * router.addDefaultHandler(async ({ enqueueLinks }) => void (await enqueueLinks({ label: 'DETAIL' })));
 * router.addHandler('DETAIL', async ({ $, pushData }) => pushData({ heading: $('h1').text() }));
 * await new CheerioCrawler({ requestHandler: router }).run(['https://example.com']);
 */
export const createCheerioRouter: CreateRouter<CheerioCrawlingContext> = create;

/**
 * A router for PlaywrightCrawler.
 *
 * @example
 * const router = createPlaywrightRouter();
 * router.addHandler('DETAIL', async ({ page, pushData }) => pushData({ title: await page.title() }));
 */
export const createPlaywrightRouter: CreateRouter<PlaywrightCrawlingContext> = create;

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
export const createAdaptivePlaywrightRouter: CreateRouter<AdaptivePlaywrightCrawlingContext> = create;

/**
 * A router for FileDownload.
 *
 * @example
 * const router = createFileRouter();
 * router.addDefaultHandler(async ({ body, log }) => log.info(`${body.length} bytes`));
 */
export const createFileRouter: CreateRouter<FileDownloadCrawlingContext> = create;
