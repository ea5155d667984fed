// A call whose reply was lost is repeated with its number: it gets the first answer again and changes nothing.
// Kept in memory: a holder is one lifetime of one process, so its calls never outlive this record.
import { ANSWERS_KEPT, type Caller } from '../frontier.js';
import { CrawlError } from '../../errors.js';
import { Refusal } from './groups.js';

interface Kept {
  highest: number;
  readonly answers: Map<number, unknown>;
}

export interface Answers {
  /** The call's earlier answer, or undefined if it is new. A number that is too old is refused. */
  find(caller: Caller): { readonly answer: unknown } | Refusal | undefined;
  keep(caller: Caller, answer: unknown): void;
  /** The transaction failed: the call did not happen. */
  drop(caller: Caller): void;
}

/** Beyond this, the least recently used holders are forgotten. */
const MAX_HOLDERS = 1_024;

export function createAnswers(): Answers {
  const holders = new Map<string, Kept>();
  return {
    find({ holder, call }) {
      const kept = holders.get(holder);
      if (!kept) return undefined;
      if (kept.answers.has(call)) return { answer: kept.answers.get(call) };
      if (call > kept.highest - ANSWERS_KEPT) return undefined;
      const message = `call ${call} of holder ${holder} is too old to be repeated; its last was ${kept.highest}`;
      return new Refusal(new CrawlError('REQUEST_INVALID', message));
    },
    keep({ holder, call }, answer) {
      const kept = holders.get(holder) ?? { highest: call, answers: new Map<number, unknown>() };
      holders.delete(holder);
      holders.set(holder, kept);
      kept.answers.set(call, answer);
      kept.highest = Math.max(kept.highest, call);
      for (const number of kept.answers.keys()) {
        if (number <= kept.highest - ANSWERS_KEPT) kept.answers.delete(number);
      }
      if (holders.size > MAX_HOLDERS) holders.delete(holders.keys().next().value!);
    },
    drop({ holder, call }) {
      holders.get(holder)?.answers.delete(call);
    },
  };
}
