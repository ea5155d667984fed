// All jobs: what runs, how fast, how far, and what failed.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { bytesText, countText, durationText, rateText } from '../../observe/figures.js';
import type { JobState, JobView, ServerView } from '../../serve/console/wire.js';
import { useNow } from '../hooks.js';
import { Icon } from '../icons.js';
import { Code, Empty, Figure, Progress, SearchBox, State } from '../parts.js';
import { shortUrl } from '../text.js';

type Filter = 'all' | 'open' | 'completed' | 'problems';

const FILTERS: readonly { id: Filter; text: string; states: readonly JobState[] }[] = [
  { id: 'all', text: 'All', states: ['running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'] },
  { id: 'open', text: 'Running', states: ['running', 'waiting', 'paused'] },
  { id: 'completed', text: 'Completed', states: ['completed'] },
  { id: 'problems', text: 'Failed or cancelled', states: ['failed', 'cancelled'] },
];

const MAX_SHOWN = 200;

export function Jobs({ jobs, server }: { jobs: readonly JobView[]; server: ServerView }): JSX.Element {
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState<Filter>('all');
  const isRunning = jobs.some(({ state }) => state === 'running');
  const nowMs = useNow(isRunning);
  const sums = useMemo(() => sumsOf(jobs), [jobs]);
  if (jobs.length === 0) return <NoJobs server={server} />;
  const { states } = FILTERS.find(({ id }) => id === filter)!;
  const words = search.trim().toLowerCase();
  const found = jobs.filter(
    ({ state, url, id, kind }) =>
      states.includes(state) && (words === '' || `${url} ${id} ${kind}`.toLowerCase().includes(words)),
  );
  return (
    <>
      <h1 class="hidden">Jobs</h1>
      <dl class="figures">
        <Figure label="Running" value={countText(sums.running)} note={`of ${countText(jobs.length)} kept`} />
        <Figure label="Pages per second" value={rateText(sums.perSec)} />
        <Figure label="Pages" value={countText(sums.completed)} />
        <Figure label="Failed" value={countText(sums.failed)} tone={sums.failed > 0 ? 'bad' : undefined} />
        <Figure label="Results" value={bytesText(sums.bytes)} />
      </dl>
      <div class="tools">
        <SearchBox value={search} label="Search jobs" onInput={setSearch} />
        <div class="chips" role="group" aria-label="Show">
          {FILTERS.map(({ id, text, states: of }) => (
            <button key={id} type="button" aria-pressed={id === filter} onClick={() => setFilter(id)}>
              {text}
              <span class="count">{jobs.filter(({ state }) => of.includes(state)).length}</span>
            </button>
          ))}
        </div>
      </div>
      {found.length === 0 ? (
        <Empty icon="search" title="No job fits">
          <p>Clear the search, or show all jobs.</p>
        </Empty>
      ) : (
        <ul class="jobs">
          {found.slice(0, MAX_SHOWN).map((job) => (
            <JobCard key={job.id} job={job} nowMs={nowMs} />
          ))}
        </ul>
      )}
      {found.length > MAX_SHOWN && (
        <p class="hint">{countText(found.length - MAX_SHOWN)} older jobs are not shown. Search to find one of them.</p>
      )}
    </>
  );
}

function sumsOf(jobs: readonly JobView[]) {
  const sums = { running: 0, perSec: 0, completed: 0, failed: 0, bytes: 0 };
  for (const { state, perSec, completed, failed, bytes } of jobs) {
    if (state === 'running') {
      sums.running++;
      sums.perSec += perSec;
    }
    sums.completed += completed;
    sums.failed += failed;
    sums.bytes += bytes;
  }
  return sums;
}

function JobCard({ job, nowMs }: { job: JobView; nowMs: number }): JSX.Element {
  const { id, kind, url, state, total, completed, failed, perSec, createdAtMs, endedAtMs, reason } = job;
  const isOpen = endedAtMs === undefined;
  const tookMs = (endedAtMs ?? nowMs) - createdAtMs;
  return (
    <li>
      <a class={`job ${state}`} href={`#/jobs/${id}`}>
        <span class="job-head">
          <State state={state} />
          <span class="kind">{kind}</span>
          <span class="job-time">{isOpen ? durationText(tookMs) : `${ago(nowMs - endedAtMs)}`}</span>
        </span>
        <span class="job-url" title={url}>
          {shortUrl(url)}
        </span>
        {reason !== undefined && <span class="job-reason">{reason}</span>}
        <Progress done={completed} failed={failed} total={total} state={state} />
        <span class="job-numbers">
          <span>
            <b>{countText(completed)}</b> {total > completed + failed ? `of ${countText(total)} pages` : 'pages'}
          </span>
          {failed > 0 && (
            <span class="bad">
              <b>{countText(failed)}</b> failed
            </span>
          )}
          <span>
            <b>{rateText(perSec)}</b> pages/s{isOpen ? '' : ` over ${durationText(tookMs)}`}
          </span>
        </span>
        <Icon name="next" />
      </a>
    </li>
  );
}

function ago(ms: number): string {
  if (ms < 60_000) return 'just now';
  const [value, unit] =
    ms < 3_600_000 ? [ms / 60_000, 'min'] : ms < 86_400_000 ? [ms / 3_600_000, 'h'] : [ms / 86_400_000, 'd'];
  return `${Math.floor(value)} ${unit} ago`;
}

function NoJobs({ server }: { server: ServerView }): JSX.Element {
  if (server.mode !== 'server') {
    return (
      <Empty icon="clock" title="The crawl has not begun">
        <p>Its first pages will show up here.</p>
      </Empty>
    );
  }
  const curl = `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  ${location.origin}/v2/crawl -d '{"url":"https://example.com","limit":100}'`;
  return (
    <Empty icon="jobs" title="No jobs yet">
      <p>
        Start with one page, a list, or a whole site. Jobs survive restarts, and show up here from wherever they were
        started.
      </p>
      <a class="button primary" href="#/new">
        <Icon name="plus" />
        <span>Start the first job</span>
      </a>
      <p class="hint">or from a terminal:</p>
      <Code text={curl} label="a curl command" />
    </Empty>
  );
}
