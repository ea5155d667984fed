// Routes by method and path; a part that begins with `:` is a parameter. What a route throws is an answer, too.
// Promise: a path costs one pass over the routes; nothing of it is ever part of a file name.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../errors.js';
import type { Token } from './tokens.js';

/** What a route is given. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly token: Token;
  /** Scheme and host under which the client knows the server. */
  readonly base: string;
  /** The client went away, or the server stops. */
  readonly signal: AbortSignal;
  json(): Promise<unknown>;
}

/** An answer: a value as JSON, text of some type, or nothing when the route wrote it itself. */
export type Answer =
  | { readonly status?: number; readonly json: unknown }
  | { readonly status?: number; readonly text: string; readonly type: string }
  /** JSON that is at hand as text. */
  | { readonly status?: number; readonly raw: string }
  | 'written';

export type Handle = (call: Call) => Promise<Answer>;

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handle: Handle;
}

export interface Matched {
  readonly handle: Handle;
  readonly params: Record<string, string>;
  /** The route's own path, for metrics. */
  readonly path: string;
}

/** `hintFor` tells what to use in place of a path that is not there. */
export function createRouter(
  routes: readonly Route[],
  hintFor: (path: string) => string | undefined = () => undefined,
): (method: string, path: string) => Matched {
  const parts = routes.map((route) => ({ ...route, parts: route.path.split('/') }));
  return (method, path) => {
    const asked = path.length > 1 && path.endsWith('/') ? path.slice(0, -1).split('/') : path.split('/');
    const known = parts.filter((route) => fits(route.parts, asked));
    const route = known.find((one) => one.method === method);
    if (route) return { handle: route.handle, params: paramsOf(route.parts, asked), path: route.path };
    if (known.length === 0) {
      throw new ApiError(404, hintFor(path) ?? 'There is nothing at this path. See /docs.', 'NOT_FOUND');
    }
    const allowed = known.map((one) => one.method).join(', ');
    throw new ApiError(405, `This path takes ${allowed}.`, 'METHOD_NOT_ALLOWED');
  };
}

function fits(parts: readonly string[], asked: readonly string[]): boolean {
  if (parts.at(-1) === '*')
    return asked.length >= parts.length && parts.slice(0, -1).every((part, i) => part === asked[i]);
  return parts.length === asked.length && parts.every((part, index) => part.startsWith(':') || part === asked[index]);
}

function paramsOf(parts: readonly string[], asked: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  parts.forEach((part, index) => {
    if (part.startsWith(':')) params[part.slice(1)] = asked[index]!;
  });
  return params;
}
