// A list of which only the visible rows exist: a million of them cost as much as thirty.
// Promise: arrows, Page Up and Down, Home and End move through all rows; a screen reader hears the place and the size.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSize } from './hooks.js';

interface Props {
  readonly label: string;
  readonly total: number;
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  /** Rows that are about to be seen. */
  readonly onNeed: (from: number, to: number) => void;
  readonly onTop?: (isAtTop: boolean) => void;
  readonly onOpen?: (index: number) => void;
  /** Counts how often the list shall go back to its top. */
  readonly toTop?: number;
}

/** Browsers cannot scroll further than this many pixels; above it a pixel is more than a pixel. */
const MAX_PIXELS = 8_000_000;
const BEYOND = 8;

export function VirtualList(props: Props): JSX.Element {
  const { label, total, rowHeight, row, onNeed, onTop, onOpen, toTop = 0 } = props;
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box);
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState(0);
  const full = total * rowHeight;
  const pixels = Math.min(full, MAX_PIXELS);
  const reach = Math.max(1, pixels - height);
  const scale = full > MAX_PIXELS ? (full - height) / reach : 1;
  const offset = top * scale;
  const from = Math.max(0, Math.floor(offset / rowHeight) - BEYOND);
  const to = Math.min(total, Math.ceil((offset + height) / rowHeight) + BEYOND);

  useEffect(() => onNeed(from, to), [from, to, total, onNeed]);
  useEffect(() => {
    if (toTop > 0 && box.current) box.current.scrollTop = 0;
  }, [toTop]);

  function move(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: focused + 1,
      ArrowUp: focused - 1,
      PageDown: focused + page,
      PageUp: focused - page,
      Home: 0,
      End: total - 1,
    };
    if (event.key === 'Enter' && event.target === box.current) return onOpen?.(focused);
    const wanted = steps[event.key];
    if (wanted === undefined || total === 0) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(total - 1, wanted));
    setFocused(next);
    const start = next * rowHeight;
    const list = box.current!;
    if (start < offset) list.scrollTop = start / scale;
    else if (start + rowHeight > offset + height) list.scrollTop = (start + rowHeight - height) / scale;
  }

  const rows: JSX.Element[] = [];
  for (let index = from; index < to; index++) {
    rows.push(
      <div
        key={index}
        id={`row-${index}`}
        role="option"
        aria-selected={index === focused}
        aria-setsize={total}
        aria-posinset={index + 1}
        class={`list-row${index === focused ? ' focused' : ''}`}
        style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight - offset + top}px)` }}
        onClick={() => {
          setFocused(index);
          onOpen?.(index);
        }}
      >
        {row(index)}
      </div>,
    );
  }
  return (
    <div
      class="virtual"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={total > 0 && focused >= from && focused < to ? `row-${focused}` : undefined}
      ref={box}
      onKeyDown={move}
      onScroll={(event) => {
        const { scrollTop } = event.currentTarget;
        setTop(scrollTop);
        onTop?.(scrollTop < 4);
      }}
    >
      <div class="virtual-all" style={{ height: `${pixels}px` }}>
        {rows}
      </div>
    </div>
  );
}
