// The types of the optional peer, in one place: without it installed they are `any`, and programs that use no
// browser still type-check. Only launch.ts loads the package.
/* eslint-disable @typescript-eslint/ban-ts-comment -- the only way to name the types of a package that may be missing */

/** @ts-ignore */
export type Browser = import('playwright-core').Browser;
/** @ts-ignore */
export type BrowserContext = import('playwright-core').BrowserContext;
/** @ts-ignore */
export type BrowserContextOptions = import('playwright-core').BrowserContextOptions;
/** @ts-ignore */
export type BrowserType = import('playwright-core').BrowserType;
/** @ts-ignore */
export type CDPSession = import('playwright-core').CDPSession;
/** @ts-ignore */
export type Download = import('playwright-core').Download;
/** @ts-ignore */
export type Frame = import('playwright-core').Frame;
/** @ts-ignore */
export type LaunchOptions = import('playwright-core').LaunchOptions;
/** @ts-ignore */
export type Page = import('playwright-core').Page;
/** @ts-ignore */
export type PageRequest = import('playwright-core').Request;
/** @ts-ignore */
export type PageResponse = import('playwright-core').Response;
/** @ts-ignore */
export type Playwright = typeof import('playwright-core');
/** Playwright's options of `page.goto`. */
/** @ts-ignore */
export type GotoOptions = NonNullable<Parameters<import('playwright-core').Page['goto']>[1]>;
