// The keys, in a dialog.
import type { JSX } from 'preact';
import { Dialog } from '../dialog.js';

const KEYS: readonly [key: string, what: string][] = [
  ['j', 'All jobs'],
  ['p', 'Pods'],
  ['n', 'New job'],
  ['/', 'Search in this view'],
  ['↑ ↓', 'Move in a list; Page Up, Page Down, Home and End, too'],
  ['Enter', 'Open what is chosen'],
  ['← →', 'Move between tabs; between pages in an opened page'],
  ['Esc', 'Close'],
  ['?', 'These keys'],
];

export function Help({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" kind="box" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
