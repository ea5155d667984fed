// Starts a job, or shows one page or the map of a site: a form, and beside it the commands that do the same.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { countOf } from '../../observe/figures.js';
import type { ServerView } from '../../serve/console/wire.js';
import { ask, messageOf } from '../api.js';
import { go } from '../hooks.js';
import { Link } from '../markdown.js';
import { Button, Code, Notice, Tabs } from '../parts.js';
import { curlFor, typescriptFor } from '../snippets.js';
import { type PageDocument, PageParts } from './page-view.js';
import { bodyOf, type Form, NEW_FORM, PATHS, problemIn, type What } from './start-body.js';

const WHATS: readonly { id: What; text: string; hint: string; verb: string }[] = [
  { id: 'crawl', text: 'Crawl', hint: 'A site, from one page on, link by link.', verb: 'Start the crawl' },
  { id: 'scrape', text: 'Scrape', hint: 'One page, shown here at once.', verb: 'Scrape the page' },
  { id: 'batch', text: 'Batch', hint: 'A list of pages as one job.', verb: 'Start the batch' },
  { id: 'map', text: 'Map', hint: 'The URLs of a site, without fetching its pages.', verb: 'Map the site' },
];

const FORMATS = [
  ['markdown', 'Markdown'],
  ['html', 'HTML'],
  ['links', 'Links'],
  ['screenshot', 'Screenshot'],
] as const;

interface Result {
  readonly page?: PageDocument;
  readonly links?: readonly { readonly url: string; readonly title?: string }[];
}

export function Start({ server }: { server: ServerView }): JSX.Element {
  const [form, setForm] = useState<Form>(NEW_FORM);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const [result, setResult] = useState<Result | undefined>(undefined);
  const [code, setCode] = useState('curl');
  const { what } = form;
  const set = (more: Partial<Form>): void => setForm((old) => ({ ...old, ...more }));
  const body = useMemo(() => bodyOf(form), [form]);
  const chosen = WHATS.find(({ id }) => id === what)!;

  async function submit(): Promise<void> {
    setProblem(problemIn(form));
    if (problemIn(form) !== '') return document.getElementById(what === 'batch' ? 'urls' : 'url')?.focus();
    setBusy(true);
    setResult(undefined);
    try {
      const answer = await ask<{ id?: string; data?: PageDocument; links?: Result['links'] }>(
        'POST',
        PATHS[what],
        body,
      );
      if (answer.id !== undefined) go(`#/jobs/${answer.id}`);
      else setResult({ ...(answer.data && { page: answer.data }), ...(answer.links && { links: answer.links }) });
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  }

  return (
    <div class="start">
      <h1>New job</h1>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <fieldset class="segments">
          <legend class="hidden">What to do</legend>
          {WHATS.map(({ id, text }) => (
            <label key={id} class={id === what ? 'on' : ''}>
              <input type="radio" name="what" value={id} checked={id === what} onChange={() => set({ what: id })} />
              {text}
            </label>
          ))}
        </fieldset>
        <p class="hint">{chosen.hint}</p>
        {what === 'batch' ? (
          <Field id="urls" label="URLs, one per line">
            <textarea
              id="urls"
              rows={8}
              spellcheck={false}
              placeholder={'https://example.com/\nhttps://example.com/about'}
              value={form.urls}
              onInput={(event) => set({ urls: event.currentTarget.value })}
            />
          </Field>
        ) : (
          <Field id="url" label="URL">
            <input
              id="url"
              type="text"
              inputMode="url"
              spellcheck={false}
              autocomplete="off"
              placeholder="example.com"
              value={form.url}
              onInput={(event) => set({ url: event.currentTarget.value })}
            />
          </Field>
        )}
        {(what === 'crawl' || what === 'map') && (
          <div class="pair">
            <NumberField
              id="limit"
              label={what === 'crawl' ? 'Most pages' : 'Most URLs'}
              value={form.limit}
              onInput={(limit) => set({ limit })}
            />
            {what === 'crawl' ? (
              <NumberField
                id="depth"
                label="Deepest link"
                placeholder="any"
                value={form.depth}
                onInput={(depth) => set({ depth })}
              />
            ) : (
              <Field id="search" label="Search for">
                <input
                  id="search"
                  type="text"
                  value={form.search}
                  onInput={(event) => set({ search: event.currentTarget.value })}
                />
              </Field>
            )}
          </div>
        )}
        {what === 'crawl' && (
          <>
            <div class="pair">
              <Field id="include" label="Only paths like (regular expressions)">
                <input
                  id="include"
                  type="text"
                  spellcheck={false}
                  placeholder="^/docs/"
                  value={form.include}
                  onInput={(event) => set({ include: event.currentTarget.value })}
                />
              </Field>
              <Field id="exclude" label="No paths like">
                <input
                  id="exclude"
                  type="text"
                  spellcheck={false}
                  placeholder="\.pdf$"
                  value={form.exclude}
                  onInput={(event) => set({ exclude: event.currentTarget.value })}
                />
              </Field>
            </div>
            <div class="pair">
              <NumberField
                id="delay"
                label="Seconds between pages"
                placeholder="0"
                value={form.delay}
                onInput={(delay) => set({ delay })}
              />
              <NumberField
                id="concurrency"
                label="Pages at once"
                placeholder="as the server allows"
                value={form.concurrency}
                onInput={(concurrency) => set({ concurrency })}
              />
            </div>
            <div class="checks">
              <Check
                label="The whole domain, not only below this path"
                isOn={form.isWhole}
                onChange={(isWhole) => set({ isWhole })}
              />
              <Check
                label="Subdomains, too"
                isOn={form.hasSubdomains}
                onChange={(hasSubdomains) => set({ hasSubdomains })}
              />
            </div>
          </>
        )}
        {what !== 'map' && (
          <fieldset class="checks">
            <legend>Formats</legend>
            {FORMATS.map(([id, text]) => (
              <Check
                key={id}
                label={text}
                isDisabled={id === 'screenshot' && !server.browser}
                isOn={form.formats.includes(id)}
                onChange={(isOn) =>
                  set({ formats: isOn ? [...form.formats, id] : form.formats.filter((format) => format !== id) })
                }
              />
            ))}
            <Check label="Main content only" isOn={form.isMain} onChange={(isMain) => set({ isMain })} />
          </fieldset>
        )}
        {problem !== '' && (
          <Notice tone="bad" role="alert">
            {problem}
          </Notice>
        )}
        <Button kind="primary" type="submit" icon="play" isBusy={isBusy}>
          {isBusy ? 'Working…' : chosen.verb}
        </Button>
      </form>
      <aside aria-label="The same as code">
        <Tabs
          label="Languages"
          tabs={[
            { id: 'curl', text: 'curl' },
            { id: 'ts', text: 'TypeScript' },
          ]}
          chosen={code}
          onChoose={setCode}
        >
          <Code
            text={code === 'curl' ? curlFor(PATHS[what], body) : typescriptFor(PATHS[what], body)}
            label={code === 'curl' ? 'the curl command' : 'the TypeScript'}
          />
        </Tabs>
        <p class="hint">
          <code>TOKEN</code> is the token of the server. Its <code>/docs</code> lists every option.
        </p>
      </aside>
      {result && <Shown result={result} url={form.url} />}
    </div>
  );
}

function Shown({ result, url }: { result: Result; url: string }): JSX.Element {
  const { page, links } = result;
  const metadata = (page?.metadata ?? {}) as Record<string, unknown>;
  return (
    <section class="result" aria-label="Result">
      {page && (
        <>
          <h2>{String(metadata.title ?? 'The page')}</h2>
          <PageParts
            row={{
              kind: 'page',
              url: String(metadata.sourceURL ?? url),
              atMs: Date.now(),
              status: typeof metadata.statusCode === 'number' ? metadata.statusCode : undefined,
              type: typeof metadata.contentType === 'string' ? metadata.contentType : undefined,
            }}
            document={page}
          />
        </>
      )}
      {links && (
        <>
          <h2>{countOf(links.length, 'URL')}</h2>
          <ul class="links">
            {links.slice(0, 2_000).map((link) => (
              <li key={link.url}>
                <Link href={link.url}>{link.url}</Link>
                {link.title && <span class="hint"> {link.title}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Field({ id, label, children }: { id: string; label: string; children: JSX.Element }): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
    </div>
  );
}

function NumberField(props: {
  id: string;
  label: string;
  value: string;
  placeholder?: string;
  onInput: (value: string) => void;
}): JSX.Element {
  return (
    <Field id={props.id} label={props.label}>
      <input
        id={props.id}
        type="text"
        inputMode="decimal"
        placeholder={props.placeholder}
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

function Check(props: {
  label: string;
  isOn: boolean;
  isDisabled?: boolean;
  onChange: (isOn: boolean) => void;
}): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.isOn}
        disabled={props.isDisabled}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}
