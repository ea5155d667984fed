// Crawlee's memory of which pages needed a browser: a page is judged by pages with similar URLs and the same label.
// Promise: bounded; of each label the newest results are kept.
import type { Request } from '../../request/request.js';
import { RecoverableState, type RecoverableStatePersistenceOptions } from '../recoverable-state.js';

/** Whether a page shows its content without scripts. */
export type RenderingType = 'clientOnly' | 'static';
/** How often pages are tried both ways, and where results are kept. */
export interface RenderingTypePredictorOptions {
  /** From 0 to 1. */
  detectionRatio: number;
  persistenceOptions?: Partial<RecoverableStatePersistenceOptions>;
}
/** What is looked at of a request. */
type Seen = Pick<Request, 'url'> & Partial<Pick<Request, 'loadedUrl' | 'label'>>;
interface Result {
  parts: string[];
  label?: string | undefined;
  type: RenderingType;
}

const MAX_RESULTS = 1_000;
/** Closer than this, nobody can say. */
const DOUBT = 0.1;
/** Labels that were seen less often are tried more often. */
const FEW_RESULTS = 5;

/**
 * Says whether a page will need a browser, from those that did.
 *
 * @example
 * const predictor = new RenderingTypePredictor({ detectionRatio: 0.1 });
 * await predictor.initialize();
 * predictor.storeResult(request, 'static');
 * const { renderingType } = predictor.predict(request);
 */
export class RenderingTypePredictor {
  readonly #detectionRatio: number;
  readonly #state: RecoverableState<{ results: Result[] }>;

  constructor({ detectionRatio, persistenceOptions }: RenderingTypePredictorOptions) {
    this.#detectionRatio = detectionRatio;
    this.#state = new RecoverableState<{ results: Result[] }>({
      defaultState: { results: [] },
      persistStateKey: 'rendering-type-predictor-state',
      persistenceEnabled: true,
      ...persistenceOptions,
    });
  }

  /** Loads what an earlier run learned. */
  async initialize(): Promise<void> {
    await this.#state.initialize();
  }

  predict({ url, loadedUrl, label }: Seen): {
    renderingType: RenderingType;
    detectionProbabilityRecommendation: number;
  } {
    const { results } = this.#state.currentValue;
    if (results.length === 0) return { renderingType: 'clientOnly', detectionProbabilityRecommendation: 1 };
    const parts = partsOf(loadedUrl ?? url);
    const known = results.filter((one) => one.label === label);
    const [isStatic, isClient] = (['static', 'clientOnly'] as const).map((type) =>
      mean(known.filter((one) => one.type === type).map((one) => similarity(parts, one.parts))),
    ) as [number, number];
    const rarity = Math.max(1, FEW_RESULTS - known.length);
    const isUnsure = Math.abs(isStatic - isClient) < DOUBT;
    return {
      renderingType: isStatic > isClient ? 'static' : 'clientOnly',
      detectionProbabilityRecommendation: isUnsure ? 1 : this.#detectionRatio * rarity,
    };
  }

  storeResult(requests: Seen | readonly Seen[], renderingType: RenderingType): void {
    const { results } = this.#state.currentValue;
    for (const { url, loadedUrl, label } of [requests].flat() as Seen[]) {
      results.push({ parts: partsOf(loadedUrl ?? url), label, type: renderingType });
    }
    results.splice(0, results.length - MAX_RESULTS);
  }
}

function partsOf(url: string): string[] {
  const { hostname, pathname } = new URL(url);
  return [hostname, ...pathname.split('/')];
}

/** The share of equal or nearly equal steps of two paths; 0 for two hosts. */
function similarity(one: readonly string[], other: readonly string[]): number {
  if (one[0] !== other[0]) return 0;
  const length = Math.max(one.length, other.length);
  let same = 0;
  for (let at = 1; at < length; at++) if (areAlike(one[at] ?? '', other[at] ?? '')) same++;
  return same / length;
}

/** Equal but for their numbers, or for the ends of words that begin alike: `item-1` and `item-22`. */
function areAlike(one: string, other: string): boolean {
  if (one === other) return true;
  if (one === '' || other === '') return false;
  const [a, b] = [one.replace(/\d+/g, '0'), other.replace(/\d+/g, '0')];
  if (a === b) return true;
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) common++;
  return common / Math.max(a.length, b.length) > 0.6;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
