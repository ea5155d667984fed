// The address guard for browsers on another machine, which cannot connect through a relay here: every request is stopped
// and its host looked up before it goes on. Weaker than the relay: the browser asks the DNS again itself.
import { parseUrl } from '../../request/url.js';
import type { GuardRelay } from './guard-relay.js';
import type { BrowserContext } from './playwright-types.js';

export async function guardByRoutes(context: BrowserContext, relay: GuardRelay): Promise<void> {
  const isRefused = async (text: string): Promise<boolean> => {
    const url = parseUrl(text);
    if (!url || !/^(?:https?|wss?):$/.test(url.protocol)) return false;
    return relay.check(new URL(text.replace(/^ws/, 'http'))).then(
      () => false,
      () => true,
    );
  };
  await context.route('**/*', async (route) => {
    if (await isRefused(route.request().url())) await route.abort('addressunreachable');
    else await route.fallback();
  });
  await context.routeWebSocket('**/*', async (socket) => {
    if (await isRefused(socket.url())) await socket.close();
    else socket.connectToServer();
  });
}
