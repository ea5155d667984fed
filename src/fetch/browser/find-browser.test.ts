import { describe, expect, it } from 'vitest';
import { findBrowser, type Machine } from './find-browser.js';

const machine = (platform: NodeJS.Platform, programs: string[], rest: Partial<Machine> = {}): Machine => ({
  platform,
  env: {
    PATH: platform === 'win32' ? String.raw`C:\bin` : '/usr/local/bin:/usr/bin',
    HOME: '/home/ann',
    PROGRAMFILES: String.raw`C:\Program Files`,
  },
  isExecutable: (file) => programs.includes(file),
  ...rest,
});
const wish = { headless: true, hasProfile: false };

describe('finding a browser', () => {
  it('takes the first of the system, in the order of the names and not of the folders', () => {
    const found = findBrowser(wish, machine('linux', ['/usr/local/bin/google-chrome', '/usr/bin/chromium']));
    expect(found).toBe('/usr/bin/chromium');
  });

  it('prefers a headless shell, unless a window or a profile is wanted', () => {
    const both = machine('linux', ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']);
    expect(findBrowser(wish, both)).toBe('/usr/bin/chromium-headless-shell');
    expect(findBrowser({ ...wish, headless: false }, both)).toBe('/usr/bin/chromium');
    expect(findBrowser({ ...wish, hasProfile: true }, both)).toBe('/usr/bin/chromium');
  });

  it('takes what was named, and refuses a name that leads nowhere', () => {
    const linux = machine('linux', ['/opt/mine', '/usr/bin/chromium']);
    expect(findBrowser({ ...wish, executablePath: '/opt/mine' }, linux)).toBe('/opt/mine');
    expect(() => findBrowser({ ...wish, executablePath: '/opt/gone' }, linux)).toThrow(/executablePath: \/opt\/gone/);
  });

  it('knows where macOS and Windows keep theirs, and the one that Playwright installed', () => {
    const chrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
    const edge = String.raw`C:\Program Files\Microsoft\Edge\Application\msedge.exe`;
    expect(findBrowser(wish, machine('darwin', [chrome]))).toBe(chrome);
    expect(findBrowser(wish, machine('win32', [edge]))).toBe(edge);
    const installed = machine('darwin', [chrome, '/cache/chrome'], { installed: () => '/cache/chrome' });
    expect(findBrowser(wish, installed)).toBe('/cache/chrome');
  });

  it('says what to install when there is none', () => {
    expect(() => findBrowser(wish, machine('linux', []))).toThrow(
      expect.objectContaining({
        code: 'BROWSER_MISSING',
        message: expect.stringContaining('apt-get install chromium'),
      }),
    );
  });
});
