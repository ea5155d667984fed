// sendRequest over the engine: payloads, response types, redirects and cookies, and its bad input.
import { afterEach, describe, expect, it } from 'vitest';
import type { SendOptions, SendSetting } from '../../src/fetch/http/send-request.js';
import { sendRequest } from '../../src/fetch/http/send-request.js';
import { fixtures } from './http-fixtures.js';

const { serve, engine, closeAll } = fixtures();
afterEach(closeAll);

const setting: SendSetting = {
  headers: { 'User-Agent': 'orcrawl-test' },
  timeoutMs: 10_000,
  maxBodyBytes: 1_000_000,
  maxRedirects: 10,
  ignoreTlsErrors: false,
  decode: (body, contentType) => body.toString(contentType?.includes('latin1') ? 'latin1' : 'utf8'),
};

async function echo() {
  return serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (request.url === '/moved') return void response.writeHead(302, { location: '/here' }).end();
    if (request.url === '/latin1') {
      return void response
        .setHeader('content-type', 'text/plain; charset=latin1')
        .end(Buffer.from('k\xe4se', 'latin1'));
    }
    const { method, url, headers } = request;
    response.statusCode = url === '/missing' ? 404 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, body, type: headers['content-type'], agent: headers['user-agent'] }));
  });
}

describe('sendRequest', () => {
  it('answers with text by default, decoded by its charset', async () => {
    const { url } = await echo();
    const http = engine();
    expect(await sendRequest(http, { url: `${url}/latin1` }, setting)).toMatchObject({
      body: 'käse',
      statusCode: 200,
      ok: true,
      url: `${url}/latin1`,
    });
    for (const responseType of ['buffer', 'text'] as const) {
      const { rawBody, body } = await sendRequest(http, { url: `${url}/latin1`, responseType }, setting);
      expect(rawBody).toEqual(Buffer.from('k\xe4se', 'latin1'));
      expect(body).toEqual(responseType === 'buffer' ? rawBody : 'käse');
    }
  });

  it.each([
    [{ json: { a: 1 } }, '{"a":1}', 'application/json'],
    [{ form: { a: 1, b: 'x y' } }, 'a=1&b=x+y', 'application/x-www-form-urlencoded'],
    [{ body: 'raw', headers: { 'Content-Type': 'text/x' } }, 'raw', 'text/x'],
    [{ json: 1, body: 'not this' }, '1', 'application/json'],
  ] as [SendOptions, string, string][])('sends %o', async (options, body, type) => {
    const { url } = await echo();
    const sent = await sendRequest(engine(), { url, method: 'POST', responseType: 'json', ...options }, setting);
    expect(sent.body).toEqual({ method: 'POST', url: '/', body, type, agent: 'orcrawl-test' });
  });

  it('follows redirects and says when the answer is not ok', async () => {
    const { url } = await echo();
    const http = engine();
    expect(await sendRequest(http, { url: `${url}/moved` }, setting)).toMatchObject({
      url: `${url}/here`,
      ok: true,
      requestUrl: `${url}/moved`,
      redirectUrls: [new URL(`${url}/here`)],
    });
    expect(await sendRequest(http, { url: `${url}/missing` }, setting)).toMatchObject({ statusCode: 404, ok: false });
  });

  it('is guarded, and ends at its own timeout', async () => {
    const { url } = await echo();
    const guarded = engine({ allowPrivateAddresses: false });
    await expect(sendRequest(guarded, { url }, setting)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    const silent = await serve(() => undefined);
    const late = sendRequest(engine(), { url: silent.url, timeout: { request: 100 } }, setting);
    await expect(late).rejects.toMatchObject({ code: 'FETCH_TIMEOUT' });
  });

  it('names a response that is not JSON', async () => {
    const { url } = await serve((_request, response) => response.end('<html>'));
    const sent = sendRequest(engine(), { url, responseType: 'json' }, setting);
    await expect(sent).rejects.toMatchObject({ code: 'BODY_DECODE' });
  });

  it.each([
    [{ url: 'http://a.example/', bodyy: '' }, 'bodyy'],
    [{}, 'url'],
    [{ url: 'http://a.example/', responseType: 'xml' }, 'responseType'],
    [{ url: 'http://a.example/', body: 5 }, 'body'],
    [{ url: 'http://a.example/', json: () => 1 }, 'json'],
    [{ url: 'http://a.example/', form: 'a=1' }, 'form'],
  ])('names bad input in %o', async (options, name) => {
    const sent = sendRequest(engine(), options as unknown as SendOptions, setting);
    await expect(sent).rejects.toMatchObject({ code: 'REQUEST_INVALID', message: expect.stringContaining(name) });
  });
});
