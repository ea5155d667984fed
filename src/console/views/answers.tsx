// What hosts answered, by status, and what failed, by code, with examples.
import type { JSX } from 'preact';
import { countText } from '../../observe/figures.js';
import type { FiguresView } from '../../serve/console/wire.js';
import { Empty } from '../parts.js';
import { statusClass } from '../text.js';

export function Answers({ id, figures }: { id: string; figures: FiguresView }): JSX.Element {
  const statuses = Object.entries(figures.statuses).sort(([, a], [, b]) => b - a);
  const types = Object.entries(figures.types);
  if (statuses.length + figures.errors.length === 0) {
    return (
      <Empty icon="clock" title="No answers yet">
        <p>Statuses and errors are counted here as pages come in.</p>
      </Empty>
    );
  }
  const link = (filter: string): string => `#/jobs/${encodeURIComponent(id)}?show=pages&${filter}`;
  return (
    <div class="answers">
      <section>
        <h2>Answers by status</h2>
        <Bars
          rows={statuses.map(([status, count]) => ({
            name: status,
            count,
            href: link(`status=${status}`),
            tone: statusClass(Number(status)),
          }))}
        />
      </section>
      <section>
        <h2>Content types</h2>
        <Bars rows={types.map(([name, count]) => ({ name, count, tone: 'plain' }))} />
      </section>
      <section class="wide">
        <h2>Errors by code</h2>
        {figures.errors.length === 0 ? (
          <p class="hint">Nothing failed.</p>
        ) : (
          <ul class="errors">
            {figures.errors.map(({ code, count, examples }) => (
              <li key={code}>
                <a class="error-head" href={link(`kind=failed&code=${encodeURIComponent(code)}`)}>
                  <code>{code}</code>
                  <b>{countText(count)}</b>
                </a>
                <ul>
                  {examples.map(({ url, error }) => (
                    <li key={url}>
                      <span class="example-url">{url}</span>
                      <span class="example-error">{error}</span>
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

interface Bar {
  readonly name: string;
  readonly count: number;
  readonly tone: string;
  readonly href?: string;
}

function Bars({ rows }: { rows: readonly Bar[] }): JSX.Element {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <ul class="bars">
      {rows.map(({ name, count, tone, href }) => (
        <li key={name}>
          {href === undefined ? (
            <span class="bar-name">{name}</span>
          ) : (
            <a class="bar-name" href={href}>
              {name}
            </a>
          )}
          <span class="bar-track" aria-hidden="true">
            <span class={`bar-fill ${tone}`} style={{ width: `${Math.max(0.5, (100 * count) / most)}%` }} />
          </span>
          <span class="bar-count">{countText(count)}</span>
        </li>
      ))}
    </ul>
  );
}
