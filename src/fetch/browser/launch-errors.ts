// Translates Playwright's launch errors to our error codes, with what to do about them.
import { CrawlError } from '../../errors.js';
import { parseUrl } from '../../request/url.js';

interface Plan {
  readonly headless: boolean;
  readonly sandbox: boolean;
  readonly userDataDir?: string;
}

export function profileError(userDataDir: string, who: string, cause?: unknown): CrawlError {
  return new CrawlError(
    'PROFILE_IN_USE',
    `the profile ${userDataDir} is open in ${who}: close that browser or give another userDataDir`,
    { cause },
  );
}

export function launchError(thrown: Error, plan: Plan): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const { message } = thrown;
  if (plan.userDataDir !== undefined && /ProcessSingleton|existing browser session|SingletonLock/i.test(message)) {
    return profileError(plan.userDataDir, 'another browser', thrown);
  }
  if (!plan.headless && /having a XServer|Missing X server|cannot open display/i.test(message)) {
    return new CrawlError(
      'BROWSER_FAILED',
      'a browser with a window needs a display, but there is none: run in a desktop session or with xvfb-run, or use headless mode',
      { cause: thrown },
    );
  }
  if (/No usable sandbox|sandbox/i.test(message) && plan.sandbox) {
    return new CrawlError(
      'BROWSER_FAILED',
      'the browser did not start because its sandbox is not available: allow user namespaces, or set disableBrowserSandbox if you trust the pages',
      { cause: thrown },
    );
  }
  if (/is not found at|executable doesn't exist|Unsupported chromium channel|is not supported on/i.test(message)) {
    const advice = 'install it, or remove "channel" to use the first browser found';
    return new CrawlError('BROWSER_MISSING', `${firstLine(thrown)}: ${advice}`, { cause: thrown });
  }
  return new CrawlError('BROWSER_FAILED', `the browser did not start: ${firstLine(thrown)}`, { cause: thrown });
}

/**
 * Services that rent browsers out put a token into the address, and Playwright's message quotes it: neither is shown, and
 * the message is not kept as a cause.
 */
export function connectError(cdpUrl: string, thrown: Error): CrawlError {
  const what = firstLine(thrown).replace(/\b(?:https?|wss?):\/\/[^\s"'<>]+/g, originOf);
  return new CrawlError('BROWSER_FAILED', `no browser answers at ${originOf(cdpUrl)}: ${what}`);
}

function originOf(text: string): string {
  const url = parseUrl(text);
  return url ? `${url.protocol}//${url.host}` : 'its address';
}

function firstLine({ message }: Error): string {
  return (message.split('\n', 1)[0] ?? '').slice(0, 500);
}
