import { describe, expect, it } from 'vitest';
import { hideLogins, withoutLogin } from './login.js';

describe('withoutLogin', () => {
  it('takes user name and password out of a URL, as the header they mean', () => {
    expect(withoutLogin('https://al%20ice:p%40ss@h.test:8443/a?b=c@d#e')).toEqual({
      url: 'https://h.test:8443/a?b=c@d#e',
      authorization: `Basic ${Buffer.from('al ice:p@ss').toString('base64')}`,
    });
    expect(withoutLogin('https://alice@h.test/').url).toBe('https://h.test/');
  });

  it.each(['https://h.test/@alice', 'https://h.test/?m=a@b.test', 'no URL@all', 'mailto:a@b.test'])(
    'leaves %s as it is',
    (text) => expect(withoutLogin(text)).toEqual({ url: text }),
  );
});

describe('hideLogins', () => {
  it('leaves text without passwords, whatever stands around the URLs', () => {
    const text = 'GET http://a:pw@x.test/ failed; proxy <https://u:p%40w@y.test:8080>, redis://:pw@z.test/0 (a@b.test)';
    expect(hideLogins(text)).toBe(
      'GET http://x.test/ failed; proxy <https://y.test:8080>, redis://z.test/0 (a@b.test)',
    );
    expect(hideLogins('https://h.test/@alice and https://h.test?to=a@b')).toBe(
      'https://h.test/@alice and https://h.test?to=a@b',
    );
    expect(hideLogins('http://a:p@w@x.test/')).toBe('http://x.test/');
  });
});
