// One page of a job, in a sheet: its markdown, fields, links, screenshot, and what became of it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytesText, countText } from '../../observe/figures.js';
import type { PageRow } from '../../serve/console/wire.js';
import { ask, messageOf } from '../api.js';
import { Dialog } from '../dialog.js';
import { Link, Markdown } from '../markdown.js';
import { Button, Empty, Loading, Notice, Tabs } from '../parts.js';
import { msText } from '../text.js';

export type PageDocument = Readonly<Record<string, unknown>>;

interface Answer {
  readonly place: number;
  readonly row: PageRow;
  readonly document: PageDocument | null;
}

const MAX_LINKS = 2_000;
const MAX_VALUE = 20_000;

export function PageView(props: {
  id: string;
  place: number;
  total: number;
  onMove: (place: number) => void;
  onClose: () => void;
}): JSX.Element {
  const { id, place, total, onMove, onClose } = props;
  const [answer, setAnswer] = useState<Answer | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const over = new AbortController();
    setProblem('');
    ask<Answer>('GET', `/console/jobs/${encodeURIComponent(id)}/pages/${place}`, undefined, over.signal)
      .then(setAnswer)
      .catch((error: unknown) => over.signal.aborted || setProblem(messageOf(error)));
    return () => over.abort();
  }, [id, place]);
  const shown = answer?.place === place ? answer : undefined;
  const title = shown?.row.title || (shown ? (shown.row.kind === 'failed' ? 'Failed page' : 'Page') : 'Loading…');
  return (
    <Dialog
      title={title}
      kind="sheet"
      onClose={onClose}
      tools={
        <>
          <Button
            kind="quiet"
            icon="back"
            label="Newer page"
            isDisabled={place + 1 >= total}
            onClick={() => onMove(place + 1)}
          />
          <Button
            kind="quiet"
            icon="next"
            label="Older page"
            isDisabled={place === 0}
            onClick={() => onMove(place - 1)}
          />
        </>
      }
    >
      {problem !== '' && (
        <Notice tone="bad" role="alert">
          {problem}
        </Notice>
      )}
      {shown ? (
        <PageParts row={shown.row} document={shown.document} />
      ) : (
        problem === '' && <Loading what="Loading the page…" />
      )}
    </Dialog>
  );
}

/** Also what a scrape shows. */
export function PageParts({ row, document }: { row: PageRow; document: PageDocument | null }): JSX.Element {
  const markdown = textOf(document?.markdown) ?? textOf(document?.text);
  const links = linksOf(document?.links);
  const screenshot = textOf(document?.screenshot);
  const fields = fieldsOf(document);
  const tabs = [
    ...(markdown === undefined ? [] : [{ id: 'markdown', text: 'Markdown' }]),
    { id: 'fate', text: 'Details' },
    ...(fields.length > 0 ? [{ id: 'fields', text: 'Fields', count: String(fields.length) }] : []),
    ...(links.length > 0 ? [{ id: 'links', text: 'Links', count: countText(links.length) }] : []),
    ...(screenshot === undefined ? [] : [{ id: 'screenshot', text: 'Screenshot' }]),
  ];
  const [wanted, setWanted] = useState('markdown');
  const chosen = tabs.some(({ id }) => id === wanted) ? wanted : tabs[0]!.id;
  return (
    <>
      <p class="page-url">
        <Link href={row.url}>{row.url}</Link>
      </p>
      <Tabs label="Parts of the page" tabs={tabs} chosen={chosen} onChoose={setWanted}>
        {chosen === 'markdown' ? (
          markdown?.trim() ? (
            <Markdown text={markdown} />
          ) : (
            <Empty icon="search" title="No text on this page" />
          )
        ) : chosen === 'links' ? (
          <ul class="links">
            {links.slice(0, MAX_LINKS).map((href, index) => (
              <li key={index}>
                <Link href={href}>{href}</Link>
              </li>
            ))}
            {links.length > MAX_LINKS && (
              <li class="hint">{countText(links.length - MAX_LINKS)} more in the download.</li>
            )}
          </ul>
        ) : chosen === 'screenshot' ? (
          <Screenshot source={screenshot!} />
        ) : chosen === 'fields' ? (
          <Facts facts={fields} />
        ) : (
          <Facts facts={fateOf(row, document)} />
        )}
      </Tabs>
    </>
  );
}

function Screenshot({ source }: { source: string }): JSX.Element {
  if (!/^data:image\/(?:png|jpeg|webp);base64,[\w+/=]+$/.test(source.slice(0, 200))) {
    return <Empty icon="alert" title="The screenshot cannot be shown" />;
  }
  return <img class="screenshot" src={source} alt="The page as it looked" />;
}

function Facts({ facts }: { facts: readonly (readonly [name: string, value: string])[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const FATES: Readonly<Record<PageRow['kind'], string>> = {
  page: 'Kept',
  failed: 'Failed after its retries',
  robots: 'Left out: robots.txt forbids it',
};

function fateOf(row: PageRow, document: PageDocument | null): (readonly [string, string])[] {
  const { kind, status, code, error, ms, bytes, type, atMs, url } = row;
  const loaded = textOf((document?.metadata as PageDocument | undefined)?.url) ?? textOf(document?.loadedUrl);
  const all: (readonly [string, string | undefined])[] = [
    ['Fate', FATES[kind]],
    ['Status', status === undefined ? undefined : String(status)],
    ['Error', code],
    ['Why', error],
    ['Load time', ms === undefined ? undefined : msText(ms)],
    ['Size', bytes === undefined ? undefined : `${bytesText(bytes)} (${countText(bytes)} bytes)`],
    ['Type', type],
    ['At', new Date(atMs).toLocaleString([], { hour12: false })],
    ['Led to', loaded !== undefined && loaded !== url ? loaded : undefined],
  ];
  return all.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value] as const]));
}

const TEXTS = new Set(['markdown', 'html', 'rawHtml', 'text', 'links', 'screenshot', 'images', 'metadata']);

/** What else a document says: its metadata, and what was extracted. */
function fieldsOf(document: PageDocument | null): (readonly [string, string])[] {
  if (!document) return [];
  const own = Object.entries(document).filter(([name]) => !TEXTS.has(name));
  const metadata = Object.entries((document.metadata ?? {}) as PageDocument);
  return [...own, ...metadata].flatMap(([name, value]) => {
    if (value === null || value === undefined || value === '') return [];
    const text = typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
    return [[name, text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text] as const];
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Links are a list of URLs, or lists by kind with objects, as batches of the command line write them. */
function linksOf(value: unknown): string[] {
  if (Array.isArray(value))
    return value.flatMap((one) => textOf(one) ?? textOf((one as PageDocument | null)?.url) ?? []);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(linksOf);
}
