// What a job was asked to do, and the commands that ask for the same.
import type { JSX } from 'preact';
import type { JobView } from '../../serve/console/wire.js';
import { Code } from '../parts.js';
import { curlFor, typescriptFor } from '../snippets.js';

export function Wish({ job, request }: { job: JobView; request: unknown }): JSX.Element {
  const body = (request ?? {}) as Record<string, unknown>;
  const path = job.kind === 'batch' ? '/v2/batch/scrape' : job.kind === 'crawl' ? '/v2/crawl' : undefined;
  const whole = job.kind === 'batch' ? { urls: [job.url], ...body } : body;
  return (
    <div class="wish">
      <section>
        <h2>Options</h2>
        <Code text={JSON.stringify(body, null, 2)} label="the options as JSON" />
        <p class="hint">
          Job <code>{job.id}</code>, started by “{job.owner}”.
        </p>
      </section>
      {path !== undefined && job.owner !== 'terminal' && (
        <section>
          <h2>The same from a terminal</h2>
          <Code text={curlFor(path, whole)} label="the curl command" />
          <h2>… and from TypeScript</h2>
          <Code text={typescriptFor(path, whole)} label="the TypeScript" />
        </section>
      )}
    </div>
  );
}
