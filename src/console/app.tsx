// The frame of the console: its bar, the view of the route, and what is said when there is no permission.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JobView, PodView, ServerView } from '../serve/console/wire.js';
import { useTokenOf } from './api.js';
import { go, useRoute, useStream } from './hooks.js';
import { Icon, Logo } from './icons.js';
import { Button, Empty, Loading, Notice } from './parts.js';
import type { StreamStatus } from './stream.js';
import { applyTheme, chosenTheme, type Theme } from './theme.js';
import { keepToken } from './token.js';
import { Help } from './views/help.js';
import { Job } from './views/job.js';
import { Jobs } from './views/jobs.js';
import { Pods } from './views/pods.js';
import { SignIn } from './views/sign-in.js';
import { Start } from './views/start.js';

export function App({ token }: { token: string }): JSX.Element {
  const [shown, setShown] = useState(token);
  useTokenOf(shown);
  return (
    <Signed
      key={shown}
      onToken={(next) => {
        keepToken(next);
        setShown(next);
      }}
    />
  );
}

function Signed({ onToken }: { onToken: (token: string) => void }): JSX.Element {
  const stream = useStream('/events');
  const { parts } = useRoute();
  const [isHelpOpen, setHelp] = useState(false);
  const status = stream?.status ?? 'connecting';
  const server = stream?.values.get('server') as ServerView | undefined;
  const jobs: JobView[] = [];
  const pods: PodView[] = [];
  for (const [key, value] of stream?.values ?? []) {
    if (key.startsWith('job:')) jobs.push(value as JobView);
    else if (key.startsWith('pod:')) pods.push(value as PodView);
  }
  jobs.sort((one, other) => other.createdAtMs - one.createdAtMs);
  pods.sort((one, other) => one.pod - other.pod);
  useKeys(server, () => setHelp(true));
  const isStarter = server?.mode === 'server';
  const only = server && !isStarter ? jobs[0] : undefined;
  const [place = only ? 'jobs' : '', id = only?.id] = parts;

  if (status === 'denied') return <SignIn onToken={onToken} />;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="#/" aria-label="orcrawl, all jobs">
          <Logo />
          <span>orcrawl</span>
        </a>
        <nav aria-label="Main">
          <a href="#/" aria-current={place !== 'pods' && place !== 'new' ? 'page' : undefined}>
            <Icon name="jobs" />
            <span>{only ? 'Crawl' : 'Jobs'}</span>
          </a>
          <a href="#/pods" aria-current={place === 'pods' ? 'page' : undefined}>
            <Icon name="pods" />
            <span>Pods</span>
          </a>
        </nav>
        <div class="bar-end">
          <Connection status={status} />
          <ThemeButton />
          {isStarter && (
            <a class="button primary" href="#/new" aria-label="New job">
              <Icon name="plus" />
              <span>New job</span>
            </a>
          )}
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {status === 'lost' && <Lost mode={server?.mode} isOver={only !== undefined && isOver(only)} />}
        {!server ? (
          status === 'lost' ? (
            <Empty icon="cut" title="The server does not answer">
              <p>The page keeps trying. Start the server again, and it goes on by itself.</p>
            </Empty>
          ) : (
            <Loading what="Connecting…" />
          )
        ) : place === 'pods' ? (
          <Pods pods={pods} server={server} />
        ) : place === 'new' && isStarter ? (
          <Start server={server} />
        ) : id !== undefined ? (
          <Job key={id} id={id} server={server} />
        ) : (
          <Jobs jobs={jobs} server={server} />
        )}
      </main>
      {isHelpOpen && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

const isOver = ({ state }: JobView): boolean => state !== 'running' && state !== 'waiting' && state !== 'paused';

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Connection({ status }: { status: StreamStatus }): JSX.Element {
  const text = status === 'live' ? 'Live' : status === 'lost' ? 'Reconnecting' : 'Connecting';
  return (
    <span class={`connection ${status}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="connection-text">{text}</span>
    </span>
  );
}

function Lost({ mode, isOver: isDone }: { mode: ServerView['mode'] | undefined; isOver: boolean }): JSX.Element {
  if (mode !== undefined && mode !== 'server') {
    return (
      <Notice tone={isDone ? 'info' : 'warn'}>
        {isDone
          ? 'The crawl has ended and closed its console. What you see is its last state.'
          : 'The crawl does not answer. If it was stopped, start it again with --resume --dashboard.'}
      </Notice>
    );
  }
  return <Notice tone="warn">The connection is lost. What you see is a moment old; the page keeps trying.</Notice>;
}

const THEMES: readonly { theme: Theme; icon: 'auto' | 'sun' | 'moon'; text: string }[] = [
  { theme: 'auto', icon: 'auto', text: 'Colours of the system' },
  { theme: 'light', icon: 'sun', text: 'Light colours' },
  { theme: 'dark', icon: 'moon', text: 'Dark colours' },
];

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme());
  const at = THEMES.findIndex((one) => one.theme === theme);
  const next = THEMES[(at + 1) % THEMES.length]!;
  return (
    <Button
      kind="quiet"
      icon={THEMES[at]!.icon}
      label={`${THEMES[at]!.text}. Change to: ${next.text.toLowerCase()}`}
      onClick={() => {
        applyTheme(next.theme);
        setTheme(next.theme);
      }}
    />
  );
}

/** One key is enough for what is done often; never while something is typed. */
function useKeys(server: ServerView | undefined, openHelp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog')) return;
      if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLElement>('main input[type=search]')?.focus();
      } else if (event.key === 'n' && server?.mode === 'server') go('#/new');
      else if (event.key === 'j') go('#/');
      else if (event.key === 'p') go('#/pods');
      else if (event.key === '?') openHelp();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [server?.mode]);
}
