// Finds the answer to a special path (`/_/…`); the paths themselves are listed in simweb-paths.ts.
import { SIMWEB_PATHS } from '../pages/paths.js';
import type { SpecialName } from '../pages/paths.js';
import { HTML_TYPE, TEXT_TYPE, escapeHtml } from '../reply.js';
import type { SpecialAnswer, SpecialCall } from '../reply.js';
import { contentAnswers } from './content.js';
import { hostileAnswers } from './hostile.js';
import { httpAnswers } from './http.js';
import { scriptAnswers } from './scripts.js';

const all: Record<SpecialName, SpecialAnswer> = {
  ...httpAnswers,
  ...contentAnswers,
  ...scriptAnswers,
  ...hostileAnswers,
};
const answers = new Map<string, SpecialAnswer>(Object.entries(all));

/** The page at `/_/`, for people. */
function listing(): string {
  const rows = SIMWEB_PATHS.map(({ usage, does }) => `<dt><code>${escapeHtml(usage)}</code><dd>${escapeHtml(does)}`);
  return `<!doctype html><meta charset="utf-8"><title>Special paths</title><dl>${rows.join('\n')}</dl>\n`;
}

export const isSpecial = (path: string): boolean => path.startsWith('/_/');

export function answerSpecial(call: Omit<SpecialCall, 'args'>): void {
  const [name = '', ...args] = call.exchange.path.slice('/_/'.length).split('/');
  if (name === '') return call.exchange.send(200, HTML_TYPE, listing());
  const answer = answers.get(name);
  if (!answer) return call.exchange.send(404, TEXT_TYPE, `no special path "${name}"; /_/ lists them\n`);
  answer({ ...call, args });
}
