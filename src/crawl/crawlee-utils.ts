// Connects independent stages: what happens on first use, and how lists of URLs are fetched.
// Imported by index.ts for its effect; costs nothing until a storage is opened or a list is fetched.
import { LIMITS } from '../limits.js';
import { Configuration } from '../configuration.js';
import { afterQueueDrop, beforeFirstUse } from '../first-use.js';
import { sendRequest } from '../fetch/http/send-request.js';
import { RequestQueue } from '../frontier/queue/request-queue.js';
import { keepListStatesWith, type RequestListState } from '../frontier/queue/request-list.js';
import { fetchUrlListsWith } from '../frontier/queue/url-list-source.js';
import { createToolbox } from '../handle/toolbox.js';
import { decodeBody, detectEncoding } from '../parse/encoding/encoding.js';
import { purgeDefaultStorages as purgeStores } from '../store/purge.js';
import { KeyValueStore } from '../store/records/key-value.js';
import { prepareDefaultStorages } from './storage/fresh-start.js';
import { defaultUserAgent } from './user-agent.js';
import { forgetRun, runPlaceOf } from './storage/run-state.js';

const LIST_TIMEOUT_MS = 60_000;
const MAX_LIST_BYTES = LIMITS.listBytes.max;

/** Fetches text for the tools that need some. The user names the URL, so its host may be private; where it redirects may not. */
async function fetchText(url: string, options: { proxyUrl?: string } = {}): Promise<string> {
  const { createHttpEngine } = await import('../fetch/http/engine.js');
  const engine = createHttpEngine();
  engine.allowHost(url);
  try {
    const { body } = await sendRequest(
      engine,
      { url, responseType: 'text' },
      {
        headers: { 'user-agent': defaultUserAgent() },
        proxyUrl: options.proxyUrl,
        timeoutMs: LIST_TIMEOUT_MS,
        maxBodyBytes: MAX_LIST_BYTES,
        maxRedirects: 10,
        ignoreTlsErrors: false,
        decode: (bytes, contentType) => decodeBody(bytes, detectEncoding(bytes, contentType)),
      },
    );
    return body as string;
  } finally {
    await engine.close();
  }
}

/**
 * Crawlee's `utils`.
 *
 * @example
 * await utils.sleep(500);
 * const handles = utils.social.parseHandlesFromHtml('<a href="mailto:me@example.com">me</a>');
 */
export const utils = createToolbox(fetchText);
/**
 * Fetches a text and takes all URLs out of it.
 *
 * @example
 * const urls = await downloadListOfUrls({ url: 'https://example.com/urls.txt' });
 */
export const downloadListOfUrls = utils.downloadListOfUrls;

fetchUrlListsWith(({ requestsFromUrl, regex }) => downloadListOfUrls({ url: requestsFromUrl, urlRegExp: regex }));
keepListStatesWith({
  load: async (key) => (await (await KeyValueStore.open()).getValue<RequestListState>(key)) ?? undefined,
  save: async (key, state) => (await KeyValueStore.open()).setValue(key, state),
});
beforeFirstUse(prepareDefaultStorages);
afterQueueDrop(async (config, queueId) => {
  if (config.isPersistent) await forgetRun(runPlaceOf(config), queueId);
});

/**
 * Empties the default queue, dataset and key-value store (all but the input).
 *
 * @example
 * await purgeDefaultStorages();
 */
export async function purgeDefaultStorages(options: { config?: Configuration } = {}): Promise<void> {
  const { config = Configuration.getGlobalConfig() } = options;
  await (await RequestQueue.open(undefined, { config })).drop();
  await purgeStores({ config });
}
