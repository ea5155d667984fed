// GET /read/URL: a page as markdown, JSON or clean HTML, by what the client accepts. One `curl` is the whole tutorial.
import type { App } from '../app.js';
import { ApiError } from '../errors.js';
import type { Handle } from '../http/router.js';
import type { ScrapeOptions } from '../api/schemas.js';
import { scrapeFor } from '../api/scrape.js';

const OWN = new Set(['selector', 'waitFor', 'engine', 'timeout']);
const ENGINES = ['auto', 'http', 'browser'] as const;
const CSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export function readRoute(app: App): Handle {
  return async (call) => {
    const { url, own } = splitTarget(call.url);
    const engine = ENGINES.find((name) => name === (own.get('engine') ?? 'auto'));
    if (!engine) throw new ApiError(400, 'engine: use auto, http or browser.');
    const waitFor = numberOf(own, 'waitFor', 60_000);
    const timeout = numberOf(own, 'timeout', 300_000);
    const selector = own.get('selector');
    const form = formOf(call.request.headers.accept);
    const options: ScrapeOptions = {
      formats: form === 'html' ? ['html'] : form === 'json' ? ['markdown', 'html', 'links'] : ['markdown'],
      ...(selector && { includeTags: [selector] }),
      ...(waitFor !== undefined && { waitFor }),
      ...(timeout !== undefined && { timeout }),
    };
    const document = await scrapeFor(app, call, app.targets.check(url, 'url'), options, { engine });
    if (form === 'json') return { json: { success: true, data: document } };
    const status = Number(document.metadata.statusCode ?? 200) >= 400 ? 502 : 200;
    if (form === 'markdown') return { status, text: `${document.markdown}\n`, type: 'text/markdown; charset=utf-8' };
    // What a page wrote must not run under this server's name.
    call.response.setHeader('content-security-policy', CSP);
    return { status, text: `<!doctype html>\n${document.html}\n`, type: 'text/html; charset=utf-8' };
  };
}

/** The page's address is all that follows `/read/`; its query stays its own but for the reader's four names. */
function splitTarget({ pathname, searchParams }: URL): { url: string; own: URLSearchParams } {
  const path = pathname.slice('/read/'.length);
  if (path === '')
    throw new ApiError(400, 'Name the page after /read/, such as /read/https://example.com/.', 'URL_INVALID');
  const own = new URLSearchParams();
  const theirs = new URLSearchParams();
  for (const [name, value] of searchParams) (OWN.has(name) ? own : theirs).append(name, value);
  // Some clients and proxies join the two slashes.
  const address = path.replace(/^(https?):\/+/i, '$1://');
  const query = theirs.toString();
  return { url: query === '' ? address : `${address}?${query}`, own };
}

function formOf(accept = ''): 'markdown' | 'json' | 'html' {
  const wanted = accept
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';')[0]!.trim());
  const first = wanted.find((type) => ['text/markdown', 'application/json', 'text/html'].includes(type));
  return first === 'application/json' ? 'json' : first === 'text/html' ? 'html' : 'markdown';
}

function numberOf(own: URLSearchParams, name: string, most: number): number | undefined {
  const text = own.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0 || value > most)
    throw new ApiError(400, `${name}: use a number from 0 to ${most}.`);
  return value;
}
