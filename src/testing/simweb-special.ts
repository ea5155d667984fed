// The special paths that every synthetic host serves under `/_/…`, one for each thing a test wants to provoke.
// The table is the documentation too: `SIMWEB_PATHS` lists what each path does.
import { HTML_TYPE, TEXT_TYPE, escapeHtml } from './simweb-reply.js';
import type { SpecialCall, SpecialPath } from './simweb-reply.js';
import { contentPaths } from './simweb-special-content.js';
import { hostilePaths } from './simweb-special-hostile.js';
import { httpPaths } from './simweb-special-http.js';

const paths = new Map<string, SpecialPath>(Object.entries({ ...httpPaths, ...contentPaths, ...hostilePaths }));

/** Every special path: how it is written and what it does. */
export const SIMWEB_PATHS: readonly { readonly usage: string; readonly does: string }[] = Object.freeze(
  [...paths.values()].map(({ usage, does }) => Object.freeze({ usage, does })),
);

/** The page at `/_/`, for people. */
function listing(): string {
  const rows = SIMWEB_PATHS.map(({ usage, does }) => `<dt><code>${escapeHtml(usage)}</code><dd>${escapeHtml(does)}`);
  return `<!doctype html><meta charset="utf-8"><title>Special paths</title><dl>${rows.join('\n')}</dl>\n`;
}

export const isSpecial = (path: string): boolean => path.startsWith('/_/');

export function answerSpecial(call: Omit<SpecialCall, 'args'>): void {
  const [name = '', ...args] = call.exchange.path.slice('/_/'.length).split('/');
  if (name === '') return call.exchange.send(200, HTML_TYPE, listing());
  const special = paths.get(name);
  if (!special) return call.exchange.send(404, TEXT_TYPE, `no special path "${name}"; /_/ lists them\n`);
  special.answer({ ...call, args });
}
