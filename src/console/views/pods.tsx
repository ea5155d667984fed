// The pods of a crawl: a row per pod, and what is dead by its name.
import type { JSX } from 'preact';
import { bytesText, countOf, countText, rateText } from '../../observe/figures.js';
import type { PodView, ServerView } from '../../serve/console/wire.js';
import { Code, Empty, Figure, Notice } from '../parts.js';

const STATES: Readonly<Record<PodView['state'], string>> = {
  starting: 'Starting',
  running: 'Running',
  silent: 'Does not answer',
  stopped: 'Stopped',
};

export function Pods({ pods, server }: { pods: readonly PodView[]; server: ServerView }): JSX.Element {
  if (pods.length === 0) {
    return (
      <Empty icon="pods" title="No pods here">
        <p>
          {server.mode === 'server'
            ? 'Pods belong to crawls of many processes and machines. Such a crawl has a console of its own:'
            : 'This crawl runs in one process. A crawl of many processes and machines shows its pods here:'}
        </p>
        <Code text="orcrawl run --config crawl.yaml --dashboard" label="the command" />
      </Empty>
    );
  }
  const dead = pods.filter(({ state }) => state === 'silent' || state === 'stopped');
  const sum = (of: (pod: PodView) => number): number => pods.reduce((total, pod) => total + of(pod), 0);
  const hottest = pods.reduce((most, { hot = 0 }) => Math.max(most, hot), 0);
  return (
    <>
      <h1 class="hidden">Pods</h1>
      {dead.length > 0 && (
        <Notice tone="bad" role="alert">
          {dead.map(({ pod, state, reason }) => (
            <p key={pod}>
              Pod {pod}: {STATES[state].toLowerCase()}
              {reason === undefined ? '' : ` (${reason})`}
            </p>
          ))}
        </Notice>
      )}
      <dl class="figures">
        <Figure
          label="Pods"
          value={countText(pods.length - dead.length)}
          note={`of ${countText(pods.length)} running`}
        />
        <Figure label="Pages per second" value={rateText(sum(({ perSec }) => perSec))} />
        <Figure label="Pages" value={countText(sum(({ pages }) => pages))} />
        <Figure label="In the queue" value={countText(sum(({ queued }) => queued))} />
        <Figure
          label="Restarts"
          value={countText(sum(({ restarts }) => restarts))}
          tone={sum(({ restarts }) => restarts) > 0 ? 'bad' : undefined}
        />
        <Figure
          label="Hottest store"
          value={hottest > 0 ? `${hottest.toFixed(1)} ×` : '–'}
          note="of the mean"
          tone={hottest > 3 ? 'bad' : undefined}
        />
      </dl>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Pods">
        <table class="pods">
          <thead>
            <tr>
              {[
                'Pod',
                'State',
                'Pages/s',
                'Pages',
                'Failed',
                'Queue',
                'Leased',
                'Parse queue',
                'Workers',
                'Restarts',
                'Memory',
                'CPU',
                'Redis memory',
                'Redis CPU',
                'Redis commands/s',
                'Hot',
              ].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pods.map((pod) => (
              <PodRow key={pod.pod} pod={pod} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">{countOf(pods.filter(({ isHere }) => isHere).length, 'pod runs', 'pods run')} on this machine.</p>
    </>
  );
}

function PodRow({ pod }: { pod: PodView }): JSX.Element {
  const { state, hot, redisMemory, redisMemoryLimit, redisOps, redisCpu } = pod;
  const here = (text: string): string => (pod.isHere ? text : '–');
  const memory =
    redisMemory === undefined
      ? '–'
      : `${bytesText(redisMemory)}${redisMemoryLimit ? ` of ${bytesText(redisMemoryLimit)}` : ''}`;
  return (
    <tr class={state}>
      <th scope="row" title={pod.where}>
        {pod.pod}
      </th>
      <td>
        <span class={`state ${state === 'running' ? 'running' : state === 'starting' ? 'waiting' : 'failed'}`}>
          {state === 'running' && <span class="pulse" aria-hidden="true" />}
          {STATES[state]}
        </span>
      </td>
      <td>{rateText(pod.perSec)}</td>
      <td>{countText(pod.pages)}</td>
      <td class={pod.failed > 0 ? 'bad' : ''}>{countText(pod.failed)}</td>
      <td>{countText(pod.queued)}</td>
      <td>{countText(pod.leased)}</td>
      <td>{countText(pod.parsing)}</td>
      <td class={pod.isHere && pod.workers < pod.workersWanted ? 'bad' : ''}>
        {here(`${pod.workers} of ${pod.workersWanted}`)}
      </td>
      <td class={pod.restarts > 0 ? 'bad' : ''}>{here(countText(pod.restarts))}</td>
      <td>{here(bytesText(pod.memory))}</td>
      <td>{here(`${Math.round(pod.cpu * 100)} %`)}</td>
      <td>{memory}</td>
      <td>{redisCpu === undefined ? '–' : `${Math.round(redisCpu * 100)} %`}</td>
      <td>{redisOps === undefined ? '–' : countText(redisOps)}</td>
      <td class={hot !== undefined && hot > 3 ? 'bad' : ''}>{hot === undefined ? '–' : `${hot.toFixed(1)} ×`}</td>
    </tr>
  );
}
