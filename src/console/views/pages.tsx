// The pages of a job as they arrive, newest first: search, filter, open one.
import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { bytesText, countOf, countText } from '../../observe/figures.js';
import type { JobView, NumberedRow, PageRow, RowsAnswer } from '../../serve/console/wire.js';
import { ask, messageOf } from '../api.js';
import { go, useRoute, useSettled } from '../hooks.js';
import { Icon } from '../icons.js';
import { Empty, Loading, Notice, SearchBox } from '../parts.js';
import { createRowWindows, isFiltered, type RowFilter, rowsPath, type RowWindows } from '../rows.js';
import { msText, shortUrl, statusClass, timeText } from '../text.js';
import { VirtualList } from '../virtual-list.js';
import { PageView } from './page-view.js';

interface Props {
  readonly id: string;
  readonly total: number;
  readonly newest: readonly NumberedRow[];
  readonly isRunning: boolean;
  readonly kind: JobView['kind'];
}

const ROW_HEIGHT = 52;

export function Pages({ id, total, newest, isRunning, kind }: Props): JSX.Element {
  const { query } = useRoute();
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState<number | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const word = useSettled(search);
  const [kindChosen, status, code, host] = ['kind', 'status', 'code', 'host'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
    string,
  ];
  const filter = useMemo(
    () => ({ search: word.trim(), kind: kindChosen, status, code, host }),
    [word, kindChosen, status, code, host],
  );
  const show = (more: string): void => go(`#/jobs/${encodeURIComponent(id)}?show=pages${more}`);
  const onProblem = useCallback((error: unknown) => setProblem(messageOf(error)), []);
  if (kind === 'pods') {
    return (
      <Empty icon="pods" title="Pages of pods stay with the pods">
        <p>Each machine keeps its pages in its data directories. Charts, errors and pods are shown here.</p>
      </Empty>
    );
  }
  if (total === 0) {
    return isRunning ? (
      <Empty icon="clock" title="Waiting for the first page">
        <p>Pages show up here as soon as they are kept.</p>
      </Empty>
    ) : (
      <Empty icon="search" title="No pages">
        <p>The job ended before it had a page.</p>
      </Empty>
    );
  }
  const chips: readonly [text: string, more: string, isOn: boolean][] = [
    ['All', '', kindChosen === '' && status === ''],
    ['Pages', '&kind=page', kindChosen === 'page'],
    ['Failed', '&kind=failed', kindChosen === 'failed'],
    ['4xx', '&status=4xx', status === '4xx'],
    ['5xx', '&status=5xx', status === '5xx'],
    ['robots.txt', '&kind=robots', kindChosen === 'robots'],
  ];
  return (
    <div class="pages">
      <div class="tools">
        <SearchBox value={search} label="Search URLs, titles, errors" onInput={setSearch} />
        <div class="chips" role="group" aria-label="Show">
          {chips.map(([text, more, isOn]) => (
            <button key={text} type="button" aria-pressed={isOn} onClick={() => show(more)}>
              {text}
            </button>
          ))}
          {[code, host, /^\d+$/.test(status) ? status : ''].filter(Boolean).map((text) => (
            <button
              key={text}
              type="button"
              class="removable"
              aria-label={`Remove filter ${text}`}
              onClick={() => show('')}
            >
              {text} <Icon name="close" />
            </button>
          ))}
        </div>
      </div>
      {problem !== '' && (
        <Notice tone="bad" role="alert">
          {problem}
        </Notice>
      )}
      {isFiltered(filter) ? (
        <Found
          key={JSON.stringify(filter)}
          id={id}
          filter={filter}
          total={total}
          onOpen={setOpened}
          onProblem={onProblem}
        />
      ) : (
        <Arriving id={id} total={total} newest={newest} onOpen={setOpened} onProblem={onProblem} />
      )}
      {opened !== undefined && (
        <PageView id={id} place={opened} total={total} onMove={setOpened} onClose={() => setOpened(undefined)} />
      )}
    </div>
  );
}

interface ListProps {
  readonly id: string;
  readonly total: number;
  readonly onOpen: (place: number) => void;
  readonly onProblem: (error: unknown) => void;
}

/** All rows, newest first. While somebody reads further down, new ones wait above. */
function Arriving({
  id,
  total,
  newest,
  onOpen,
  onProblem,
}: ListProps & { newest: readonly NumberedRow[] }): JSX.Element {
  const [, redraw] = useState(0);
  const [isAtTop, setAtTop] = useState(true);
  const [toTop, setToTop] = useState(0);
  const held = useRef(total);
  const windows = useRef<RowWindows | undefined>(undefined);
  windows.current ??= createRowWindows(id, () => redraw((turn) => turn + 1), onProblem);
  useEffect(() => () => windows.current?.close(), []);
  const rows = windows.current;
  rows.put(newest);
  // The stream's count and its rows come together; a row that is not there yet is not shown.
  if (isAtTop) held.current = total;
  const shown = held.current;
  const onNeed = useCallback((from: number, to: number) => rows.need(shown - to, shown - from), [rows, shown]);
  return (
    <>
      {shown < total && (
        <button type="button" class="new-rows" onClick={() => setToTop((times) => times + 1)}>
          <Icon name="up" />
          {countOf(total - shown, 'new page')}
        </button>
      )}
      <VirtualList
        label="Pages, newest first"
        total={shown}
        rowHeight={ROW_HEIGHT}
        toTop={toTop}
        onTop={setAtTop}
        onNeed={onNeed}
        onOpen={(index) => onOpen(shown - 1 - index)}
        row={(index) => <Row row={rows.row(shown - 1 - index)} />}
      />
    </>
  );
}

/** What fits a filter, newest first, fetched as far as it is looked at. */
function Found({ id, filter, total, onOpen, onProblem }: ListProps & { filter: RowFilter }): JSX.Element {
  const [found, setFound] = useState<{ rows: readonly NumberedRow[]; before: number | undefined }>({
    rows: [],
    before: undefined,
  });
  const loading = useRef(false);
  const over = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    over.current = new AbortController();
    return () => over.current?.abort();
  }, []);
  const isDone = found.before === 0;
  async function more(): Promise<void> {
    if (loading.current || isDone) return;
    loading.current = true;
    try {
      const at = found.before === undefined ? '' : found.before;
      const answer = await ask<RowsAnswer>(
        'GET',
        rowsPath(id, { ...filter, before: at, max: 200 }),
        undefined,
        over.current?.signal,
      );
      loading.current = false;
      setFound((old) => ({ rows: [...old.rows, ...answer.rows], before: answer.before }));
    } catch (error) {
      loading.current = false;
      if (!over.current?.signal.aborted) onProblem(error);
    }
  }
  useEffect(() => {
    if (found.rows.length < 50) void more();
  }, [found]);
  // New pages that fit come to the front.
  useEffect(() => {
    if (!isDone && found.before !== undefined && found.rows.length === 0) return;
    const newestPlace = found.rows[0]?.[0];
    if (found.before === undefined) return;
    const timer = setTimeout(() => {
      ask<RowsAnswer>('GET', rowsPath(id, { ...filter, max: 100 }), undefined, over.current?.signal)
        .then(({ rows }) => {
          const fresh = rows.filter(([place]) => newestPlace === undefined || place > newestPlace);
          if (fresh.length > 0) setFound((old) => ({ ...old, rows: [...fresh, ...old.rows] }));
        })
        .catch(() => undefined);
    }, 1_000);
    return () => clearTimeout(timer);
  }, [Math.floor(total / 20)]);
  const onNeed = (_from: number, to: number): void => {
    if (to > found.rows.length - 20) void more();
  };
  if (found.rows.length === 0 && isDone) {
    return (
      <Empty icon="search" title="No page fits">
        <p>Nothing among {countOf(total, 'page')} fits this search.</p>
      </Empty>
    );
  }
  return (
    <>
      <p class="hint" role="status">
        {isDone
          ? `${countOf(found.rows.length, 'page fits', 'pages fit')}`
          : `${countText(found.rows.length)} found, ${countText(total - (found.before ?? total))} of ${countText(total)} looked at`}
      </p>
      {found.rows.length === 0 ? (
        <Loading what="Searching…" />
      ) : (
        <VirtualList
          label="Pages that fit, newest first"
          total={found.rows.length}
          rowHeight={ROW_HEIGHT}
          onNeed={onNeed}
          onOpen={(index) => onOpen(found.rows[index]![0])}
          row={(index) => <Row row={found.rows[index]?.[1]} />}
        />
      )}
    </>
  );
}

function Row({ row }: { row: PageRow | undefined }): JSX.Element {
  if (!row) return <span class="row-loading" aria-label="Loading" />;
  const { kind, url, title, status, bytes, ms, atMs, code, error } = row;
  const mark = kind === 'failed' ? (code ?? 'failed') : kind === 'robots' ? 'robots.txt' : String(status ?? '–');
  const tone = kind === 'failed' ? 'bad' : kind === 'robots' ? 'none' : statusClass(status);
  return (
    <>
      <span class={`row-status ${tone}`}>{mark}</span>
      <span class="row-text">
        <span class="row-title">
          {kind === 'failed' ? error : kind === 'robots' ? 'Left out: robots.txt forbids it' : title || shortUrl(url)}
        </span>
        <span class="row-url">{shortUrl(url)}</span>
      </span>
      <span class="row-number">{ms === undefined ? '' : msText(ms)}</span>
      <span class="row-number">{bytes === undefined ? '' : bytesText(bytes)}</span>
      <span class="row-number time">{timeText(atMs)}</span>
    </>
  );
}
