// What a batch says on standard error about its results: pages with nothing to read, failures and what to do.
// Promise: a long list does not flood the terminal: the first few of a kind, then a count.
import { adviceFor } from '../advice.js';
import { countOf } from '../../observe/figures.js';
import { complain, shown } from '../terminal.js';

const MAX_LINES = 5;

export interface Notes {
  /** A page that has nothing, or little, to read. */
  lack(why: string): void;
  /** A result that could not be written. */
  unwritable(url: string): void;
  failure(code: string | null): void;
  /** A near copy that is not written. */
  copy(): void;
  close(): void;
}

/** @param beforeShow makes room on the terminal */
export function createNotes(beforeShow?: () => void): Notes {
  let lacks = 0;
  let copies = 0;
  const failures = new Map<string, number>();
  const tell = (line: string) => {
    beforeShow?.();
    complain(line);
  };
  return {
    lack(why) {
      if (lacks++ < MAX_LINES) tell(`note: ${why}`);
    },
    unwritable: (url) => tell(`${shown(url)} cannot be written in this format (ITEM_INVALID)`),
    failure(code) {
      if (code !== null) failures.set(code, (failures.get(code) ?? 0) + 1);
    },
    copy: () => void copies++,
    close() {
      if (copies > 0) tell(`note: ${countOf(copies, 'page')} left out that nearly repeat another`);
      if (lacks > MAX_LINES) tell(`note: ${countOf(lacks - MAX_LINES, 'more page')} with little or nothing to read`);
      for (const [code, count] of failures) {
        const advice = adviceFor(code);
        if (advice !== undefined) tell(`${count} × ${code}: ${advice}`);
      }
    },
  };
}
