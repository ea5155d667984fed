// Unit tests of one session: its score, its life, its cookies, its state.
import { describe, expect, it } from 'vitest';
import { Session, sessionOptionsOf } from './session.js';
import type { SessionOptions } from './session.js';

const URL_A = 'https://shop.example.com/cart';

describe('Session', () => {
  it('has Crawlee’s defaults and an id of its own', () => {
    const session = new Session({ clock: () => 1_000 });
    expect(session).toMatchObject({ maxErrorScore: 3, errorScoreDecrement: 0.5, maxUsageCount: 50, usageCount: 0 });
    expect(session.expiresAt.getTime()).toBe(1_000 + 3_000_000);
    expect(session.isUsable()).toBe(true);
    expect(new Set(Array.from({ length: 1000 }, () => new Session().id)).size).toBe(1000);
  });

  it('is blocked after three failures', () => {
    const session = new Session();
    session.markBad();
    session.markBad();
    expect(session.isUsable()).toBe(true);
    session.markBad();
    expect([session.isBlocked(), session.isUsable(), session.usageCount]).toEqual([true, false, 3]);
  });

  it('heals by half a point per success, never below zero', () => {
    const session = new Session();
    session.markBad();
    session.markGood();
    expect(session.errorScore).toBe(0.5);
    session.markGood();
    session.markGood();
    expect(session.errorScore).toBe(0);
  });

  it('is used up after maxUsageCount uses', () => {
    const session = new Session({ maxUsageCount: 2 });
    session.markGood();
    session.markGood();
    expect([session.isMaxUsageCountReached(), session.isUsable()]).toEqual([true, false]);
  });

  it('expires with age', () => {
    let now = 0;
    const session = new Session({ maxAgeSecs: 10, clock: () => now });
    now = 9_999;
    expect(session.isExpired()).toBe(false);
    now = 10_000;
    expect([session.isExpired(), session.isUsable()]).toEqual([true, false]);
  });

  it('never comes back after it retired, and says so once', () => {
    const retired: Session[] = [];
    const sessionPool = {
      blockedStatusCodes: [403],
      sessionChanged: () => {},
      sessionRetired: (session: Session) => retired.push(session),
    };
    const session = new Session({ sessionPool, errorScoreDecrement: 10 });
    session.retire();
    session.markGood();
    session.markGood();
    expect(session.errorScore).toBe(0);
    expect(session.isUsable()).toBe(false);
    expect(retired).toEqual([session]);
  });

  it('retires on the statuses of its pool and the additional ones, and on no other', () => {
    expect(new Session().retireOnBlockedStatusCodes(200)).toBe(false);
    expect(new Session().retireOnBlockedStatusCodes(429)).toBe(true);
    const session = new Session();
    expect(session.retireOnBlockedStatusCodes(418, [418])).toBe(true);
    expect(session.isUsable()).toBe(false);
  });

  it('keeps the cookies of responses, in whatever form the headers come', () => {
    const session = new Session();
    session.setCookiesFromResponse({ url: URL_A, headers: { 'set-cookie': ['a=1; Path=/', 'b=2; Path=/other'] } });
    session.setCookiesFromResponse({ url: () => URL_A, headers: () => ({ 'set-cookie': 'c=3; Path=/\nd=4; Path=/' }) });
    session.setCookiesFromResponse(new Response('', { headers: { 'set-cookie': 'lost=1' } }));
    const headers = new Headers();
    headers.append('set-cookie', 'e=5; Domain=example.com; Path=/');
    session.setCookiesFromResponse({ url: URL_A, headers });
    expect(session.getCookieString(URL_A).split('; ').sort()).toEqual(['a=1', 'c=3', 'd=4', 'e=5']);
    expect(session.getCookieString('https://www.example.com/')).toBe('e=5');
    expect(session.getCookieString('https://elsewhere.example/')).toBe('');
  });

  it('gives and takes cookies as objects', () => {
    const session = new Session();
    session.setCookies(
      [
        { name: 'host', value: '1', httpOnly: true, sameSite: 'Lax', expires: 4_000_000_000 },
        { name: 'domain', value: '2', domain: '.example.com', secure: true },
        { name: 'foreign', value: '3', domain: '.other.example' },
      ],
      URL_A,
    );
    expect(session.getCookies(URL_A)).toEqual([
      expect.objectContaining({
        name: 'host',
        domain: 'shop.example.com',
        httpOnly: true,
        sameSite: 'Lax',
        expires: 4_000_000_000,
      }),
      expect.objectContaining({ name: 'domain', domain: '.example.com', secure: true, expires: -1 }),
    ]);
    const copy = new Session();
    copy.setCookies(session.getCookies(URL_A), URL_A);
    expect(copy.getCookies(URL_A)).toEqual(session.getCookies(URL_A));
  });

  it('has one header set for its life, also after a restart, always in English', () => {
    const session = new Session();
    const restored = new Session(sessionOptionsOf(JSON.parse(JSON.stringify(session.getState()))));
    expect(restored.headerSet).toEqual(session.headerSet);
    const sets = new Set(Array.from({ length: 200 }, () => JSON.stringify(new Session().headerSet)));
    expect(sets.size).toBeGreaterThan(1);
    for (const set of sets) expect(JSON.parse(set)['accept-language']).toMatch(/^en/);
  });

  it('comes back from its state as it was', () => {
    const session = new Session({ userData: { token: 'x' }, maxUsageCount: Infinity, maxAgeSecs: Infinity });
    session.markBad();
    session.setCookie('a=1', URL_A);
    const state = session.getState();
    const restored = new Session(sessionOptionsOf(JSON.parse(JSON.stringify(state))));
    expect(restored.getState()).toEqual(state);
    expect(restored.getCookieString(URL_A)).toBe('a=1');
  });

  it.each([
    null,
    7,
    [],
    {},
    { id: '' },
    { ...new Session().getState(), errorScore: 'x' },
    { ...new Session().getState(), createdAt: 'never' },
  ])('takes %j for no state of a session', (state) => {
    expect(sessionOptionsOf(state)).toBeUndefined();
  });

  it.each([
    [{ maxUsageCount: 0 }, /"maxUsageCount"/],
    [{ maxAgeSecs: '3000' }, /"maxAgeSecs"/],
    [{ maxErorScore: 3 }, /did you mean "maxErrorScore"/],
  ])('refuses %j by name', (options, message) => {
    const make = () => new Session(options as SessionOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }));
  });
});
