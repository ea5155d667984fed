// The address guard for browsers on another machine, which cannot use the relay: every request is paused until its host
// is looked up. Weaker than the relay: the browser resolves the name again itself, and redirects
// in frames of other sites and in workers are not seen.
import { parseUrl } from '../../request/url.js';
import type { GuardRelay } from './relay/guard-relay.js';
import type { BrowserContext, Page } from './playwright-types.js';

async function isRefused(text: string, relay: GuardRelay): Promise<boolean> {
  const url = parseUrl(text);
  if (!url || !/^(?:https?|wss?):$/.test(url.protocol)) return false;
  return relay.check(new URL(text.replace(/^ws/, 'http'))).then(
    () => false,
    () => true,
  );
}

export async function guardByRoutes(context: BrowserContext, relay: GuardRelay): Promise<void> {
  await context.route('**/*', async (route) => {
    if (await isRefused(route.request().url(), relay)) await route.abort('addressunreachable');
    else await route.fallback();
  });
  await context.routeWebSocket('**/*', async (socket) => {
    if (await isRefused(socket.url(), relay)) await socket.close();
    else socket.connectToServer();
  });
}

/** Playwright's routes are not asked about redirects; the DevTools protocol is, hop by hop. */
export async function guardRedirects(page: Page, context: BrowserContext, relay: GuardRelay): Promise<void> {
  const session = await context.newCDPSession(page);
  const answer = async ({ requestId, request }: { requestId: string; request: { url: string } }) => {
    if (await isRefused(request.url, relay)) {
      await session.send('Fetch.failRequest', { requestId, errorReason: 'AddressUnreachable' });
    } else await session.send('Fetch.continueRequest', { requestId });
  };
  // A page that goes away takes its paused requests along.
  session.on('Fetch.requestPaused', (paused) => void answer(paused).catch(() => undefined));
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
}
