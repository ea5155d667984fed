// The domains of a job with their pace: ten thousand of them in a window at a time.
import type { JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { bytesText, countText, rateText } from '../../observe/figures.js';
import type { DomainsAnswer, DomainView } from '../../serve/console/wire.js';
import { ask, messageOf } from '../api.js';
import { go, useSettled } from '../hooks.js';
import { Empty, Loading, Notice, SearchBox } from '../parts.js';
import { msText } from '../text.js';
import { VirtualList } from '../virtual-list.js';

const SORTS = [
  ['pages', 'Pages'],
  ['failed', 'Failed'],
  ['pace', 'Pace'],
  ['ms', 'Slowest'],
  ['bytes', 'Size'],
  ['host', 'Name'],
] as const;

const BLOCK = 100;
const REFRESH_MS = 2_000;

export function Domains({ id, isRunning, count }: { id: string; isRunning: boolean; count: number }): JSX.Element {
  const [sort, setSort] = useState<(typeof SORTS)[number][0]>('pages');
  const [search, setSearch] = useState('');
  const [total, setTotal] = useState<number | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [, redraw] = useState(0);
  const word = useSettled(search);
  const blocks = useRef(new Map<number, readonly DomainView[]>());
  const seen = useRef({ from: 0, to: 30 });

  const load = useCallback(
    async (isFresh: boolean) => {
      const { from, to } = seen.current;
      for (let block = Math.floor(from / BLOCK); block * BLOCK < Math.max(to, 1); block++) {
        if (!isFresh && blocks.current.has(block)) continue;
        const words = new URLSearchParams({
          sort,
          search: word.trim(),
          from: String(block * BLOCK),
          max: String(BLOCK),
        });
        const answer = await ask<DomainsAnswer>('GET', `/console/jobs/${encodeURIComponent(id)}/domains?${words}`);
        blocks.current.set(block, answer.domains);
        setTotal(answer.total);
      }
      for (const block of blocks.current.keys()) {
        if (blocks.current.size <= 30) break;
        blocks.current.delete(block);
      }
      redraw((turn) => turn + 1);
    },
    [id, sort, word],
  );
  const tell = (error: unknown): void => setProblem(messageOf(error));
  useEffect(() => {
    blocks.current.clear();
    load(true).catch(tell);
    if (!isRunning) return;
    const timer = setInterval(() => {
      if (!document.hidden) load(true).catch(() => undefined);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [load, isRunning]);
  const onNeed = useCallback(
    (from: number, to: number) => {
      seen.current = { from, to };
      load(false).catch(tell);
    },
    [load],
  );

  return (
    <div class="domains">
      <div class="tools">
        <SearchBox value={search} label="Search domains" onInput={setSearch} />
        <div class="chips" role="group" aria-label="Sort by">
          {SORTS.map(([name, text]) => (
            <button key={name} type="button" aria-pressed={name === sort} onClick={() => setSort(name)}>
              {text}
            </button>
          ))}
        </div>
      </div>
      {problem !== '' && (
        <Notice tone="bad" role="alert">
          {problem}
        </Notice>
      )}
      {total === undefined ? (
        <Loading what="Counting domains…" />
      ) : total === 0 ? (
        <Empty icon="search" title={count === 0 ? 'No domains yet' : 'No domain fits'} />
      ) : (
        <VirtualList
          label="Domains"
          total={total}
          rowHeight={52}
          onNeed={onNeed}
          onOpen={(index) => {
            const host = blocks.current.get(Math.floor(index / BLOCK))?.[index % BLOCK]?.host;
            if (host !== undefined) go(`#/jobs/${encodeURIComponent(id)}?show=pages&host=${encodeURIComponent(host)}`);
          }}
          row={(index) => <Row domain={blocks.current.get(Math.floor(index / BLOCK))?.[index % BLOCK]} />}
        />
      )}
    </div>
  );
}

function Row({ domain }: { domain: DomainView | undefined }): JSX.Element {
  if (!domain) return <span class="row-loading" aria-label="Loading" />;
  const { host, pages, failed, bytes, ms, pace } = domain;
  return (
    <>
      <span class="row-text">
        <span class="row-title">{host}</span>
        <span class="row-url">
          {countText(pages)} pages{failed > 0 ? `, ${countText(failed)} failed` : ''}
        </span>
      </span>
      <span class="row-number">{pace > 0 ? `${rateText(pace)}/s` : '–'}</span>
      <span class="row-number">{ms > 0 ? msText(ms) : '–'}</span>
      <span class="row-number time">{bytesText(bytes)}</span>
    </>
  );
}
