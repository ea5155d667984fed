// A dialog of the browser's own: it keeps the focus, Escape closes it, and focus goes back to where it was.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './parts.js';

export function Dialog(props: {
  title: string;
  kind: 'sheet' | 'box';
  onClose: () => void;
  tools?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  const { title, kind, onClose, tools, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement as HTMLElement | null;
    current?.showModal();
    return () => {
      current?.close();
      before?.focus();
    };
  }, []);
  return (
    <dialog
      class={kind}
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-inside">
        <header>
          <h2>{title}</h2>
          <div class="dialog-tools">
            {tools}
            <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
          </div>
        </header>
        {children}
      </div>
    </dialog>
  );
}
