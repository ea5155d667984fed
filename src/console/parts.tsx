// The parts that views are made of: buttons, states, figures, tabs, empty places.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { JobState } from '../serve/console/wire.js';
import { messageOf } from './api.js';
import { Icon, type IconName } from './icons.js';

interface ButtonProps {
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly label?: string;
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  readonly type?: 'button' | 'submit';
  readonly onClick?: () => void;
}

export function Button(props: ButtonProps): JSX.Element {
  const { icon, children, kind = 'plain', label, isBusy = false, isDisabled = false, type = 'button', onClick } = props;
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? ' square' : ''}`}
      aria-label={label}
      title={children === undefined ? label : undefined}
      aria-busy={isBusy || undefined}
      disabled={isDisabled || isBusy}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

const STATES: Readonly<Record<JobState, { icon: IconName; text: string }>> = {
  running: { icon: 'play', text: 'Running' },
  waiting: { icon: 'clock', text: 'Waiting' },
  paused: { icon: 'pause', text: 'Paused' },
  completed: { icon: 'check', text: 'Completed' },
  failed: { icon: 'alert', text: 'Failed' },
  cancelled: { icon: 'stop', text: 'Cancelled' },
};

export function State({ state }: { state: JobState }): JSX.Element {
  const { icon, text } = STATES[state];
  return (
    <span class={`state ${state}`}>
      {state === 'running' ? <span class="pulse" aria-hidden="true" /> : <Icon name={icon} />}
      {text}
    </span>
  );
}

export function Figure(props: {
  label: string;
  value: string;
  unit?: string;
  note?: ComponentChildren;
  tone?: 'bad' | 'good' | undefined;
}): JSX.Element {
  const { label, value, unit, note, tone } = props;
  return (
    <div class={`figure${tone ? ` ${tone}` : ''}`}>
      <dt>{label}</dt>
      <dd>
        <span class="number">{value}</span>
        {unit && <span class="unit">{unit}</span>}
        {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** How far something is; without a total it only says that something moves. */
export function Progress(props: { done: number; failed: number; total: number; state: JobState }): JSX.Element {
  const { done, failed, total, state } = props;
  const ended = done + failed;
  const share = (part: number): string => `${total > 0 ? Math.min(100, (100 * part) / total) : 0}%`;
  const text = total > 0 ? `${Math.floor((100 * ended) / total)} % of ${total} known pages` : 'not known yet';
  return (
    <div
      class={`progress ${state}`}
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={Math.max(1, total)}
      aria-valuenow={Math.min(ended, Math.max(1, total))}
      aria-valuetext={text}
    >
      <div class="bar done" style={{ width: share(done) }} />
      <div class="bar bad" style={{ width: share(failed) }} />
    </div>
  );
}

export function Empty(props: { icon: IconName; title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={props.icon} />
      </span>
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

export function Loading({ what }: { what: string }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}
    </div>
  );
}

export function Notice(props: {
  tone: 'bad' | 'warn' | 'info';
  children: ComponentChildren;
  role?: 'alert' | 'status';
}): JSX.Element {
  return (
    <div class={`notice ${props.tone}`} role={props.role ?? 'status'}>
      <Icon name={props.tone === 'info' ? 'clock' : 'alert'} />
      <div>{props.children}</div>
    </div>
  );
}

export interface Tab {
  readonly id: string;
  readonly text: string;
  readonly count?: string | undefined;
}

/** Tabs as people know them: arrows move, one is in the order of the Tab key. */
export function Tabs(props: {
  label: string;
  tabs: readonly Tab[];
  chosen: string;
  onChoose: (id: string) => void;
  children: ComponentChildren;
}): JSX.Element {
  const { label, tabs, chosen, onChoose, children } = props;
  const id = useId();
  const bar = useRef<HTMLDivElement>(null);
  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? tabs.length - 1 : step === undefined ? -1 : at + step;
    const next = tabs[(to + tabs.length) % tabs.length];
    if ((to === -1 && step === undefined) || !next) return;
    event.preventDefault();
    onChoose(next.id);
    bar.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  }
  return (
    <div class="tabs">
      <div class="tab-bar" role="tablist" aria-label={label} ref={bar} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            data-tab={tab.id}
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.text}
            {tab.count !== undefined && <span class="count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} class="tab-panel">
        {children}
      </div>
    </div>
  );
}

/** A button that opens a short list of actions. */
export function Menu(props: {
  icon: IconName;
  text: string;
  items: readonly { text: string; note: string; act: () => Promise<void> }[];
  onError: (message: string) => void;
}): JSX.Element {
  const { icon, text, items, onError } = props;
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!isOpen) return;
    place.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const leave = (event: Event): void => {
      if (!place.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', leave);
    return () => removeEventListener('pointerdown', leave);
  }, [isOpen]);
  function close(): void {
    setOpen(false);
    place.current?.querySelector<HTMLElement>('button')?.focus();
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || !isOpen) return;
    event.preventDefault();
    const all = [...place.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
  }
  return (
    <div class="menu" ref={place} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="button plain"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={icon} />
        <span>{text}</span>
      </button>
      {isOpen && (
        <div class="menu-list" role="menu" aria-label={text}>
          {items.map((item) => (
            <button
              key={item.text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                item.act().catch((error: unknown) => onError(messageOf(error)));
              }}
            >
              <strong>{item.text}</strong>
              <span>{item.note}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** A text to copy, such as a command. */
export function Code({ text, label }: { text: string; label: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [text]);
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <Button
        kind="quiet"
        icon={isCopied ? 'check' : 'copy'}
        label={isCopied ? 'Copied' : `Copy ${label}`}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      />
    </div>
  );
}

export function SearchBox(props: { value: string; label: string; onInput: (value: string) => void }): JSX.Element {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        value={props.value}
        placeholder={props.label}
        aria-label={props.label}
        maxLength={200}
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </div>
  );
}
