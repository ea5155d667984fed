// Suspects in the model: what a lost holder held, tried in ever smaller company (docs/decisions/017-suspects.md).
import { type HolderId, LOSSES_ALONE } from '../../frontier/frontier.js';
import type { Model } from './frontier.js';
import { isSuspect, type ModelDomain, type ModelRequest } from './state.js';

/** The trial number after a loss together with this many others; 0 ends the request. */
export function trialAfter(trial: number, together: number): number {
  if (together > 1) return Math.min(255, Math.max(LOSSES_ALONE, Math.floor(together / 2)));
  return Math.min(trial || LOSSES_ALONE, LOSSES_ALONE) - 1;
}

/** Of how many it may be one. */
export const companyOf = ({ trial }: ModelRequest): number => (trial > LOSSES_ALONE ? trial : 1);

/** Nothing else of a domain is leased while a suspect is queued there. */
export const isAccused = ({ queue }: ModelDomain): boolean => queue.length > 0 && isSuspect(queue[0]!);

/** Domains with a suspect that could be leased now. */
export const accusedNow = (model: Model, nowMs: number): ModelDomain[] =>
  [...model.domains()].filter((domain) => isAccused(domain) && (model.dueMs(domain) ?? Infinity) <= nowMs);

export type Share = 'ordinary' | 'trial' | 'nothing';

/** What a holder may be handed now. It has suspects and nothing else, or none. */
export function shareOf(model: Model, holder: HolderId, nowMs: number): Share {
  const [held] = model.heldBy(holder);
  if (held && isSuspect(held)) return 'nothing';
  if (accusedNow(model, nowMs).length === 0) return 'ordinary';
  if (!held) return 'trial';
  if (model.judge !== holder && model.isEnrolled(model.judge)) return 'ordinary';
  model.judge = holder;
  return 'nothing';
}

/** How many captures a parser gets: suspects alone, in their company, and only if it holds nothing. */
export function pullable(model: Model, holder: HolderId, max: number): number {
  const [held] = model.heldBy(holder);
  if (held && isSuspect(held)) return 0;
  const first = model.parsing().slice(0, max);
  const isTrial = first.length > 0 && isSuspect(first[0]!);
  const alike = first.findIndex((one) => isSuspect(one) !== isTrial);
  const list = alike < 0 ? first : first.slice(0, alike);
  if (!isTrial) return list.length;
  return held ? 0 : trialSize(list, max);
}

/** How many of these, from the first on, may be tried together. */
function trialSize(suspects: readonly ModelRequest[], max: number): number {
  let together = max;
  let size = 0;
  for (const one of suspects) {
    together = Math.min(together, companyOf(one));
    if (size >= together) break;
    size++;
  }
  return size;
}
