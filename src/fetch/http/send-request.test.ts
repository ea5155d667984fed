import { CookieJar } from 'tough-cookie';
import { expect, it } from 'vitest';
import { sendOrderOf, type SendOptions, type SendSetting } from './send-request.js';

const url = 'https://example.com/';
const setting: SendSetting = {
  timeoutMs: 1_000,
  maxBodyBytes: 1_000,
  maxRedirects: 3,
  ignoreTlsErrors: false,
  decode: (body) => body.toString(),
};

it('takes cookies from the jar that it is given, and stores into it', () => {
  const cookieJar = new CookieJar();
  cookieJar.setCookieSync('a=1', url);
  const { cookies } = sendOrderOf({ url, cookieJar }, setting);
  expect(cookies!.cookieHeader(url)).toBe('a=1');
  cookies!.store(url, ['b=2', 'not valid for here=1; Domain=elsewhere.example']);
  expect(cookieJar.getCookieStringSync(url)).toBe('a=1; b=2');
});

it('refuses a jar of promises and says what to use', () => {
  const cookieJar = { getCookieString: async () => '', setCookie: async () => undefined };
  expect(() => sendOrderOf({ url, cookieJar } as unknown as SendOptions, setting)).toThrow(/CookieJar of tough-cookie/);
});
