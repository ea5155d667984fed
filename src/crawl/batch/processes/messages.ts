// What the process that has the list and those that visit its URLs say to each other.
// Promise: messages of one process arrive in the order sent, so a result comes before the end of its lease.
import type { ErrorCode } from '../../../errors.js';
import type { PlacedTask, TaskState } from '../placement.js';

/** Calls that are answered: of the queue, and of what is known of hosts. */
export type CallName = 'add' | 'lease' | 'settle' | 'overview' | 'hostOf' | 'claimHost';

export type ToVisitor =
  | { readonly kind: 'begin'; readonly settings: unknown }
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: { readonly code: ErrorCode; readonly message: string };
      /** What the leases of the answer are for. */
      readonly tasks?: readonly PlacedTask[];
    }
  /** Something may be due. */
  | { readonly kind: 'wake' }
  /** A result was read. */
  | { readonly kind: 'read' }
  | { readonly kind: 'close' };

export type FromVisitor<Result> =
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName; readonly args: readonly unknown[] }
  | { readonly kind: 'host'; readonly identity: string; readonly host: string; readonly record: unknown }
  | { readonly kind: 'putBack'; readonly index: number; readonly state: TaskState }
  | { readonly kind: 'result'; readonly index: number; readonly result: Result }
  | { readonly kind: 'started'; readonly index: number }
  | { readonly kind: 'memory'; readonly percent: number; readonly isPaused: boolean }
  /** It cannot work, and why. */
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };
