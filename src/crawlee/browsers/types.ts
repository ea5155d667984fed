// What a BrowserPool needs of a browser library. Types only; Playwright's BrowserType fits.
import type { Dictionary } from '../../request/request.js';
import type { CookieObject } from '../../session/cookies.js';

/* eslint-disable @typescript-eslint/no-explicit-any -- pages and browsers are the library's own */
/** A page of any browser library. */
export interface CommonPage {
  close(...args: any[]): Promise<unknown>;
  url(): string | Promise<string>;
  evaluate(pageFunction: ((...args: any[]) => unknown) | string, ...args: any[]): Promise<unknown>;
  once?(event: 'close', listener: () => void): unknown;
  context?(): CommonContext;
}
/** A context of Playwright. */
export interface CommonContext {
  newPage(): Promise<any>;
  close(): Promise<unknown>;
  cookies(...urls: any[]): Promise<CookieObject[]>;
  addCookies(cookies: any[]): Promise<unknown>;
  pages(): any[];
  browser(): any;
  on?(event: any, listener: any): unknown;
}
/** A browser of any library. */
export interface CommonBrowser {
  newPage(...args: any[]): Promise<any>;
  close?(): Promise<unknown>;
  contexts?(): any[];
  isConnected?(): boolean;
  version?(): any;
  on?(event: any, listener: any): unknown;
  once?(event: any, listener: any): unknown;
}
/** A browser library: what launches browsers. */
export interface CommonLibrary {
  product?: string;
  launch(options?: Dictionary): Promise<any>;
  launchPersistentContext?(userDataDir: string, options?: Dictionary): Promise<any>;
  name?: () => string;
}
/** What a promise resolves to. */
export type UnwrapPromise<T> = T extends PromiseLike<infer R> ? UnwrapPromise<R> : T;
/* eslint-enable @typescript-eslint/no-explicit-any */

/**
 * The events of a BrowserPool.
 *
 * @example
 * pool.on(BROWSER_POOL_EVENTS.PAGE_CREATED, (page) => log.info(page.url()));
 */
export enum BROWSER_POOL_EVENTS {
  BROWSER_LAUNCHED = 'browserLaunched',
  BROWSER_RETIRED = 'browserRetired',
  BROWSER_CLOSED = 'browserClosed',
  PAGE_CREATED = 'pageCreated',
  PAGE_CLOSED = 'pageClosed',
}
/**
 * The events of a BrowserController.
 *
 * @example
 * controller.on(BROWSER_CONTROLLER_EVENTS.BROWSER_CLOSED, () => log.info('closed'));
 */
export enum BROWSER_CONTROLLER_EVENTS {
  BROWSER_CLOSED = 'browserClosed',
}
