// Why a page gives nothing to read: it needs scripts, is not text, or has nothing that was asked for.
// Promise: an empty page is never a silent success; the reason says how to go on.
import { needsScripts } from '../../crawl/navigate/rendering.js';
import { shown } from '../terminal.js';

export interface FetchedPage {
  readonly url: string;
  readonly contentType: string | undefined;
  /** Of the body; more than 0 when something came. */
  readonly bytes: number;
  readonly html: string;
  readonly text: string;
  readonly engine: 'http' | 'browser';
  readonly selector?: string | undefined;
}

/** What a page lacks. `isEmpty`: there is nothing at all; else it shows little, and scripts would show more. */
export interface Lack {
  readonly isEmpty: boolean;
  readonly why: string;
}

export function lackOf({ url, contentType, bytes, html, text, engine, selector }: FetchedPage): Lack | undefined {
  const type = contentType?.split(';')[0]!.trim() ?? '';
  const isEmpty = text.trim() === '';
  if (html === '' && bytes > 0) {
    return isEmpty ? { isEmpty, why: `${shown(type || 'this content')} has no text: ${shown(url)}` } : undefined;
  }
  const isShell = engine === 'http' && needsScripts(Buffer.from(html), url, contentType);
  if (isShell) {
    const how = isEmpty ? 'is empty without scripts' : 'shows little without scripts';
    return { isEmpty, why: `${shown(url)} ${how}: load it in a browser with --auto` };
  }
  if (!isEmpty) return undefined;
  if (selector !== undefined) return { isEmpty, why: `nothing in ${shown(url)} matches --selector ${shown(selector)}` };
  if (engine === 'browser') {
    return { isEmpty, why: `${shown(url)} shows no text in the browser: wait for its content with --wait-for css:…` };
  }
  return { isEmpty, why: `${shown(url)} has no text` };
}
