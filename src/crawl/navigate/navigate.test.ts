// The one navigation, with an engine that answers from a script: what is sent, in which order things happen, how it ends.
import { describe, expect, it } from 'vitest';
import { markVisit } from '../../base/loop-watch/visit-marks.js';
import { createManualTime } from '../../../test/support/manual-time.js';
import { type Answer, navigationRules, scriptedEngine } from '../../../test/support/scripted-visits.js';
import { AddressRefusedError, CrawlError } from '../../errors.js';
import { Log, LogLevel } from '../../observe/log.js';
import { Request, type RequestOptions, RequestState } from '../../request/request.js';
import { Session } from '../../session/session.js';
import type { Identity } from '../run/services.js';
import type { Visit } from '../run/attempt.js';
import { createHttpSide } from './http-side.js';
import { createNavigation, type Hook, type NavigationParts, type NavigationRules } from './navigate.js';
import type { CrawlOrder } from './order.js';

const URL_A = 'http://a.test/';

interface Given {
  readonly rules?: Partial<NavigationRules>;
  readonly parts?: Partial<NavigationParts<object>>;
  readonly pre?: readonly Hook[];
  readonly post?: readonly Hook[];
  readonly identity?: Identity;
  readonly ready?: Visit['ready'];
}

function scene(answers: Answer[], { rules: changes, parts, pre = [], post = [], identity, ready }: Given = {}) {
  const told: string[] = [];
  const sent: CrawlOrder[] = [];
  const time = createManualTime();
  const rules = navigationRules(changes);
  const side = createHttpSide<object>({
    rules,
    preNavigationHooks: [...pre, () => void told.push('pre')],
    postNavigationHooks: [...post, () => void told.push('post')],
    userAgentFor: () => 'tester',
    checksType: true,
    add: () => {
      told.push('added');
      return { beforeHandler: async () => void told.push('before'), afterHandler: () => void told.push('after') };
    },
  });
  const engine = scriptedEngine(sent, () => {
    told.push('sent');
    return answers.shift()!;
  });
  const navigation = createNavigation<object>({
    engine,
    rules,
    sideOf: () => side,
    allowHost: async (url) => told.push(`allowed ${url}`) > 0,
    refuseVisit: (url) => (url.includes('excluded') ? 'DOMAIN_EXCLUDED' : undefined),
    onStatus: (statusCode) => void told.push(String(statusCode)),
    ...parts,
  });
  async function navigate(options: RequestOptions) {
    const request = new Request(options);
    const log = new Log({ level: LogLevel.OFF });
    const visit: Visit = {
      mark: markVisit(request.url),
      context: { request, log },
      setLinkFinder: undefined,
      request,
      identity: identity ?? { session: undefined, proxyInfo: undefined },
      signal: new AbortController().signal,
      time,
      ready,
      answered: () => undefined,
      beginTurn: () => void told.push('turn'),
      checkLease: () => undefined,
      delayMs: 0,
      endTurn: () => void told.push('ended'),
      again: async () => true,
    };
    const arrival = await navigation(visit, async () => void told.push('handler'));
    return { arrival, request };
  }
  return { told, sent, time, navigate };
}

describe('the navigation', () => {
  it('runs hooks, sends, ends the turn with the response, adds the page, runs hooks and then the handler', async () => {
    const { navigate, told } = scene([{}], { ready: async () => void told.push('ready') });
    const { arrival, request } = await navigate({ url: URL_A });
    expect(arrival).toEqual({ kind: 'handled' });
    const order = ['ready', 'pre', 'turn', 'sent', '200', 'ended', 'added', 'post', 'before', 'handler', 'after'];
    expect(told).toEqual(order);
    expect(request.state).toBe(RequestState.AFTER_NAV);
  });

  it('keeps the turn of a stream until its handler has read it', async () => {
    const { navigate, told } = scene([{ stream: {} as never }], { rules: { stream: true } });
    await navigate({ url: URL_A });
    expect(told.indexOf('ended')).toBeGreaterThan(told.indexOf('handler'));
  });

  it('only calls the handler where a request is not to be navigated', async () => {
    const { navigate, told } = scene([]);
    expect((await navigate({ url: URL_A, skipNavigation: true })).arrival).toEqual({ kind: 'handled' });
    expect(told).toEqual(['handler']);
  });

  it('sends what hooks made of the request, and what the request says where they said nothing', async () => {
    const { navigate, sent } = scene([{}], {
      pre: [
        ((_: unknown, options: { headers: Record<string, string>; method: string; timeoutMs: number }) => {
          options.headers['X-Own'] = '1';
          options.timeoutMs = 77;
        }) as never,
        (({ request }: { request: Request }) => void (request.method = 'POST')) as never,
      ],
    });
    await navigate({ url: URL_A, headers: { accept: 'text/css' } });
    expect(sent[0]).toMatchObject({
      url: URL_A,
      method: 'POST',
      timeoutMs: 77,
      headers: { 'user-agent': 'tester', accept: 'text/css', 'x-own': '1' },
    });
  });

  it('ends a hook that hangs, before anything is sent', async () => {
    const { navigate, told, time } = scene([{}], { pre: [() => new Promise(() => undefined)] });
    const failing = expect(navigate({ url: URL_A })).rejects.toMatchObject({ code: 'HANDLER_TIMEOUT' });
    await time.advance(1_000);
    await failing;
    expect(told).toEqual([]);
  });

  it('uses the session’s cookies and the proxy of the visit', async () => {
    const session = new Session();
    session.setCookie('id=1', URL_A);
    const identity = { session, proxyInfo: { url: 'http://proxy.test:1/' } as never };
    const { navigate, sent } = scene([{}], { identity, rules: { persistCookiesPerSession: true } });
    await navigate({ url: URL_A });
    expect(sent[0]).toMatchObject({ proxyUrl: 'http://proxy.test:1/' });
    expect(sent[0]!.cookies!.cookieHeader(URL_A)).toBe('id=1');
  });

  it('remembers where the page came from', async () => {
    const came = { loadedUrl: 'http://b.test/end', redirectChain: [URL_A] };
    const { request } = await scene([came]).navigate({ url: URL_A });
    expect(request).toMatchObject({ url: URL_A, loadedUrl: 'http://b.test/end', redirectChain: [URL_A] });
  });

  it('queues a reported redirect, and refuses one to where nobody may go', async () => {
    const to = (redirectTo: string): Answer => ({ statusCode: 302, redirectTo });
    const queued = await scene([to('http://b.test/')]).navigate({ url: URL_A });
    expect(queued.arrival).toMatchObject({ kind: 'requeue', target: { target: 'http://b.test/' } });
    const refused = await scene([to('http://excluded.test/')]).navigate({ url: URL_A });
    expect(refused.arrival).toEqual({ kind: 'refused', url: 'http://excluded.test/', reason: 'DOMAIN_EXCLUDED' });
  });

  it('fails for a status, a type and a chain that are not to be handled, and calls no handler', async () => {
    const chain = Array.from({ length: 11 }, (_, hop) => `http://a.test/${hop}`);
    const cases: [Answer, string][] = [
      [{ statusCode: 500 }, 'HTTP_STATUS'],
      [{ headers: { 'content-type': 'image/png' } }, 'CONTENT_TYPE'],
      [{ redirectChain: chain }, 'REDIRECT_LIMIT'],
      [new CrawlError('CONNECT_RESET'), 'CONNECT_RESET'],
    ];
    for (const [answer, code] of cases) {
      const { navigate, told } = scene([answer]);
      await expect(navigate({ url: URL_A })).rejects.toMatchObject({ code });
      expect(told).not.toContain('handler');
    }
    const every = scene([{ statusCode: 500 }], { rules: { status: undefined } });
    expect((await every.navigate({ url: URL_A })).arrival.kind).toBe('handled');
  });

  it('asks a seeded private host again once it is allowed, and runs no hook twice', async () => {
    const { navigate, told } = scene([new AddressRefusedError('a.test', 'private'), {}]);
    await navigate({ url: URL_A, seeded: true });
    expect(told.filter((step) => step === 'pre')).toHaveLength(1);
    expect(told).toContain(`allowed ${URL_A}`);
    const found = scene([new AddressRefusedError('a.test', 'private')]);
    await expect(found.navigate({ url: URL_A })).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  });

  it('hands a usable response on where another process handles it, and nothing that failed', async () => {
    const handed: string[] = [];
    const handOff: NavigationParts<object>['handOff'] = async ({ url }) => {
      handed.push(url);
      return { kind: 'handed', capture: 'c1', bytes: 3 };
    };
    const good = scene([{}], { parts: { handOff } });
    expect((await good.navigate({ url: URL_A })).arrival).toEqual({ kind: 'handed', capture: 'c1', bytes: 3 });
    expect(good.told).not.toContain('handler');
    const bad = scene([{ statusCode: 500 }], { parts: { handOff } });
    await expect(bad.navigate({ url: URL_A })).rejects.toMatchObject({ code: 'HTTP_STATUS' });
    expect(handed).toEqual([URL_A]);
  });
});
