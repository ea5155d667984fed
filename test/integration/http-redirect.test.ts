// Redirects and cookies over real servers: what each hop sends, and where a visit ends.
import { afterEach, describe, expect, it } from 'vitest';
import type { IncomingHttpHeaders } from 'node:http';
import type { CookieJar } from '../../src/fetch/engine.js';
import { fetchText, fixtures } from './http-fixtures.js';

const { serve, serveRaw, engine, closeAll } = fixtures();
afterEach(closeAll);

/** A jar as simple as the port allows: one list of cookies per host. */
function simpleJar(): CookieJar & { readonly told: string[] } {
  const cookies = new Map<string, string[]>();
  const told: string[] = [];
  return {
    told,
    cookieHeader: (url) => (cookies.get(new URL(url).host) ?? []).join('; '),
    store(url, setCookies) {
      const { host, pathname } = new URL(url);
      told.push(`${pathname} ${setCookies.join('|')}`);
      cookies.set(host, [...(cookies.get(host) ?? []), ...setCookies.map((line) => line.split(';')[0]!)]);
    },
  };
}

async function redirecting(routes: Record<string, [status: number, location: string, setCookie?: string]>) {
  const seen: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
    const route = routes[request.url!];
    if (!route) return void response.end(`page ${request.url}`);
    const [status, location, setCookie] = route;
    response.writeHead(status, { location, ...(setCookie ? { 'set-cookie': setCookie } : {}) });
    response.end('moved');
  });
  return { ...server, seen };
}

describe('following', () => {
  it('goes hop by hop over one connection and tells the way', async () => {
    const server = await redirecting({ '/a': [301, '/b'], '/b': [302, 'c?d'] });
    const capture = await fetchText(engine(), `${server.url}/a#part`);
    expect(capture).toMatchObject({
      url: `${server.url}/a#part`,
      loadedUrl: `${server.url}/c?d#part`,
      redirectChain: [`${server.url}/a#part`, `${server.url}/b#part`],
      statusCode: 200,
      text: 'page /c?d',
    });
    expect(capture.redirectTo).toBeUndefined();
    expect(server.accepted()).toBe(1);
  });

  it('turns POST into GET or repeats it, as the status says', async () => {
    const server = await redirecting({ '/303': [303, '/x'], '/307': [307, '/y'] });
    const http = engine();
    const post = { method: 'POST', payload: 'data', headers: { 'content-type': 'text/plain' } };
    await fetchText(http, `${server.url}/303`, post);
    await fetchText(http, `${server.url}/307`, post);
    expect(server.seen.map(({ method, url, body, headers }) => [method, url, body, headers['content-type']])).toEqual([
      ['POST', '/303', 'data', 'text/plain'],
      ['GET', '/x', '', undefined],
      ['POST', '/307', 'data', 'text/plain'],
      ['POST', '/y', 'data', 'text/plain'],
    ]);
  });

  it('drops secrets on the way to another origin', async () => {
    const other = await redirecting({});
    const server = await redirecting({ '/in': [302, '/stay'], '/stay': [302, `${other.url}/away`] });
    const headers = { authorization: 'Bearer s', cookie: 'k=v', accept: 'text/html' };
    await fetchText(engine(), `${server.url}/in`, { headers });
    expect(server.seen[1]!.headers).toMatchObject(headers);
    expect(other.seen[0]!.headers).toMatchObject({ accept: 'text/html' });
    expect(other.seen[0]!.headers).not.toHaveProperty('authorization');
    expect(other.seen[0]!.headers).not.toHaveProperty('cookie');
  });

  it('reads cookies before and stores them after every hop, beside an explicit header', async () => {
    const server = await redirecting({ '/login': [302, '/home', 'sid=1; Path=/'] });
    const jar = simpleJar();
    await fetchText(engine(), `${server.url}/login`, { cookies: jar, headers: { Cookie: 'own=2' } });
    expect(jar.told).toEqual(['/login sid=1; Path=/']);
    expect(server.seen.map(({ headers }) => headers.cookie)).toEqual(['own=2', 'sid=1; own=2']);
  });

  it('names loops and chains that are too long', async () => {
    const routes: Record<string, [number, string]> = { '/loop': [302, '/pool'], '/pool': [302, '/loop'] };
    for (let index = 0; index < 30; index++) routes[`/${index}`] = [302, `/${index + 1}`];
    const server = await redirecting(routes);
    const http = engine();
    await expect(fetchText(http, `${server.url}/loop`)).rejects.toMatchObject({ code: 'REDIRECT_LIMIT' });
    expect(server.seen.length).toBeLessThanOrEqual(5);
    await expect(fetchText(http, `${server.url}/0`)).rejects.toMatchObject({ code: 'REDIRECT_LIMIT' });
    expect(await fetchText(http, `${server.url}/21`, { maxRedirects: 9 })).toMatchObject({ text: 'page /30' });
    await expect(fetchText(http, `${server.url}/20`, { maxRedirects: 9 })).rejects.toMatchObject({
      code: 'REDIRECT_LIMIT',
    });
  });

  it.each(['http://[', 'file:///etc/passwd', 'javascript:alert(1)'])('names the target %s', async (location) => {
    const server = await redirecting({ '/a': [302, location] });
    await expect(fetchText(engine(), `${server.url}/a`)).rejects.toMatchObject({ code: 'REDIRECT_INVALID' });
  });

  it('asks before each hop, and returns the redirect itself when refused', async () => {
    const server = await redirecting({ '/a': [302, '/b'], '/b': [302, '/c'] });
    const asked: string[] = [];
    const capture = await fetchText(engine(), `${server.url}/a`, {
      allowRedirect: (target) => {
        asked.push(target);
        return target.endsWith('/c') ? 'out of scope' : undefined;
      },
    });
    expect(asked).toEqual([`${server.url}/b`, `${server.url}/c`]);
    expect(capture).toMatchObject({
      statusCode: 302,
      loadedUrl: `${server.url}/b`,
      text: 'moved',
      refusedRedirect: { url: `${server.url}/c`, reason: 'out of scope' },
    });
    expect(server.seen).toHaveLength(2);
  });

  it('does not wait for the endless body of a redirect', async () => {
    const target = await serve((_request, response) => response.end('there'));
    const { url } = await serve((_request, response) => {
      response.writeHead(302, { location: target.url });
      const pour = () => {
        if (!response.destroyed) response.write(Buffer.alloc(8192), () => setImmediate(pour));
      };
      pour();
    });
    expect((await fetchText(engine(), url)).text).toBe('there');
  });

  it('takes a redirect without Location for a page, and one with a broken body for a redirect', async () => {
    const bare = await serve((_request, response) => response.writeHead(302).end('no way'));
    expect(await fetchText(engine(), bare.url)).toMatchObject({ statusCode: 302, text: 'no way' });
    const target = await serve((_request, response) => response.end('there'));
    const broken = await serveRaw((socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nLocation: ${target.url}\r\nContent-Length: 99\r\n\r\ncut`),
    );
    expect((await fetchText(engine(), broken.url)).text).toBe('there');
  });
});

describe('reporting', () => {
  it('gives the first redirect as the result', async () => {
    const server = await redirecting({ '/a': [301, '/b#c'] });
    const capture = await fetchText(engine(), `${server.url}/a`, { redirects: 'report' });
    expect(capture).toMatchObject({
      statusCode: 301,
      loadedUrl: `${server.url}/a`,
      redirectTo: `${server.url}/b#c`,
      redirectChain: [],
      text: 'moved',
    });
    expect(server.seen).toHaveLength(1);
  });

  it('reports a redirect to the page itself too, with the cookie it set kept', async () => {
    const server = await serve((request, response) => {
      if (!request.headers.cookie) response.writeHead(302, { location: '/gate', 'set-cookie': 'ok=1' }).end();
      else response.end('inside');
    });
    const cookies = simpleJar();
    const first = await fetchText(engine(), `${server.url}/gate`, { redirects: 'report', cookies });
    expect(first).toMatchObject({ statusCode: 302, redirectTo: `${server.url}/gate` });
    const second = await fetchText(engine(), `${server.url}/gate`, { redirects: 'report', cookies });
    expect(second).toMatchObject({ statusCode: 200, text: 'inside' });
  });
});
