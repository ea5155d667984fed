// One job: where it stands, its charts, its pages, domains and errors.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { bytesText, countText, durationText, rateText } from '../../observe/figures.js';
import type { FiguresView, JobView, NumberedRow, Sample, ServerView } from '../../serve/console/wire.js';
import { ask, download, messageOf } from '../api.js';
import { go, useNow, useRoute, useStream } from '../hooks.js';
import { Icon } from '../icons.js';
import { Button, Empty, Figure, Loading, Menu, Notice, Progress, State, Tabs } from '../parts.js';
import { msText, shortUrl } from '../text.js';
import { Answers } from './answers.js';
import { Charts } from './charts.js';
import { Domains } from './domains.js';
import { Pages } from './pages.js';
import { Wish } from './wish.js';

const NO_ROWS: readonly NumberedRow[] = [];
const NO_SAMPLES: readonly Sample[] = [];

export function Job({ id, server }: { id: string; server: ServerView }): JSX.Element {
  const stream = useStream(`/events?job=${encodeURIComponent(id)}`);
  const { query } = useRoute();
  const [problem, setProblem] = useState('');
  const job = stream?.values.get('job') as JobView | undefined;
  const figures = stream?.values.get('figures') as FiguresView | undefined;
  const now = stream?.values.get('now') as { queued: number; concurrency: number } | null | undefined;
  const samples = (stream?.lists.get('samples') as readonly Sample[] | undefined) ?? NO_SAMPLES;
  const newest = (stream?.lists.get('rows') as readonly NumberedRow[] | undefined) ?? NO_ROWS;
  const isOpen = job !== undefined && job.endedAtMs === undefined;
  const nowMs = useNow(isOpen);
  const chosen = query.get('show') ?? (job?.kind === 'pods' ? 'answers' : 'pages');
  const tabs = useMemo(
    () => [
      { id: 'pages', text: 'Pages', count: countText(job?.rows ?? 0) },
      { id: 'domains', text: 'Domains', count: countText(figures?.domains ?? 0) },
      { id: 'answers', text: 'Answers and errors', count: job?.failed ? countText(job.failed) : undefined },
      { id: 'request', text: 'Request' },
    ],
    [job?.rows, figures?.domains, job?.failed],
  );
  if (stream?.status === 'gone') return <Gone server={server} />;
  if (!job || !figures) return <Loading what="Loading the job…" />;
  return (
    <article class="one-job">
      <header class="job-title">
        {server.mode === 'server' && (
          <a class="back" href="#/">
            <Icon name="back" />
            Jobs
          </a>
        )}
        <div class="job-name">
          <State state={job.state} />
          <h1 title={job.url}>{shortUrl(job.url)}</h1>
          <span class="kind">{job.kind}</span>
        </div>
        <Actions job={job} onProblem={setProblem} />
      </header>
      {problem !== '' && (
        <Notice tone="bad" role="alert">
          {problem}
        </Notice>
      )}
      {job.reason !== undefined && <Notice tone={job.state === 'failed' ? 'bad' : 'warn'}>{job.reason}</Notice>}
      <Progress done={job.completed} failed={job.failed} total={job.total} state={job.state} />
      <Numbers job={job} figures={figures} now={now ?? undefined} nowMs={nowMs} />
      <Charts samples={samples} />
      <Tabs
        label="Parts of the job"
        tabs={tabs}
        chosen={chosen}
        onChoose={(tab) => go(`#/jobs/${encodeURIComponent(id)}?show=${tab}`)}
      >
        {chosen === 'domains' ? (
          <Domains id={id} isRunning={isOpen} count={figures.domains} />
        ) : chosen === 'answers' ? (
          <Answers id={id} figures={figures} />
        ) : chosen === 'request' ? (
          <Wish job={job} request={stream?.values.get('request')} />
        ) : (
          <Pages id={id} total={job.rows} newest={newest} isRunning={isOpen} kind={job.kind} />
        )}
      </Tabs>
    </article>
  );
}

function Gone({ server }: { server: ServerView }): JSX.Element {
  return (
    <Empty icon="search" title="There is no such job">
      <p>
        Results are kept for a limited time. This job has expired, or belongs to another token than “{server.token}”.
      </p>
      <a class="button plain" href="#/">
        <span>All jobs</span>
      </a>
    </Empty>
  );
}

function Numbers(props: {
  job: JobView;
  figures: FiguresView;
  now: { queued: number; concurrency: number } | undefined;
  nowMs: number;
}): JSX.Element {
  const { job, figures, now, nowMs } = props;
  const isOpen = job.endedAtMs === undefined;
  const tookMs = (job.endedAtMs ?? nowMs) - job.createdAtMs;
  const left = job.total - job.completed - job.failed;
  const leftMs = isOpen && left > 0 && job.perSec > 0 ? (left / job.perSec) * 1_000 : undefined;
  return (
    <dl class="figures">
      <Figure
        label="Pages"
        value={countText(job.completed)}
        note={left > 0 ? `of ${countText(job.total)} known` : undefined}
      />
      <Figure
        label="Failed"
        value={countText(job.failed)}
        tone={job.failed > 0 ? 'bad' : undefined}
        note={figures.robots > 0 ? `${countText(figures.robots)} left out by robots.txt` : undefined}
      />
      <Figure
        label="Pages per second"
        value={rateText(job.perSec)}
        note={isOpen ? (now ? `${countText(now.concurrency)} at once` : undefined) : 'on average'}
      />
      <Figure label="In the queue" value={now ? countText(now.queued) : '–'} />
      <Figure
        label="Load time"
        value={figures.p50 > 0 ? msText(figures.p50) : '–'}
        note={figures.p95 > 0 ? `95 % within ${msText(figures.p95)}` : undefined}
      />
      <Figure label="Received" value={bytesText(figures.bytes)} />
      <Figure
        label={isOpen ? 'Running for' : 'Took'}
        value={durationText(tookMs)}
        note={leftMs === undefined ? undefined : `about ${durationText(leftMs)} left`}
      />
    </dl>
  );
}

function Actions({ job, onProblem }: { job: JobView; onProblem: (text: string) => void }): JSX.Element {
  const [busy, setBusy] = useState('');
  const { id, can, failed } = job;
  function act(action: 'cancel' | 'resume' | 'retry'): void {
    setBusy(action);
    onProblem('');
    ask<{ id: string }>('POST', `/console/jobs/${id}/do/${action}`, {})
      .then((answer) => action === 'retry' && go(`#/jobs/${answer.id}`))
      .catch((error: unknown) => onProblem(messageOf(error)))
      .finally(() => setBusy(''));
  }
  const save = (format: 'jsonl' | 'csv' | 'zip') => () => download(id, format);
  return (
    <div class="actions">
      {can.includes('cancel') && (
        <Button kind="danger" icon="stop" isBusy={busy === 'cancel'} onClick={() => act('cancel')}>
          Cancel
        </Button>
      )}
      {can.includes('resume') && (
        <Button kind="primary" icon="play" isBusy={busy === 'resume'} onClick={() => act('resume')}>
          Resume
        </Button>
      )}
      {can.includes('retry') && (
        <Button icon="retry" isBusy={busy === 'retry'} onClick={() => act('retry')}>
          Retry {countText(failed)} failed
        </Button>
      )}
      {job.rows > 0 && (
        <Menu
          icon="download"
          text="Download"
          onError={onProblem}
          items={[
            { text: 'JSON lines', note: 'one document per line, whole', act: save('jsonl') },
            { text: 'CSV', note: 'one row per page, failed ones too', act: save('csv') },
            { text: 'Markdown', note: 'a zip with one file per page', act: save('zip') },
          ]}
        />
      )}
    </div>
  );
}
