import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addBrowserFlags, addFileFlags, type BrowserFlags, crawlerOptionsOf, pageConfigOf } from './browser-flags.js';

function flagsOf(...args: string[]): BrowserFlags {
  const command = addFileFlags(addBrowserFlags(new Command())).exitOverride();
  return command.parse(args, { from: 'user' }).opts();
}

describe('flags of commands that can use a browser', () => {
  it('leave it alone when none of them is given', () => {
    expect(crawlerOptionsOf(flagsOf())).toEqual({});
    expect(pageConfigOf(flagsOf())).toEqual({});
  });

  it('show the browser with --headed, and hide it otherwise', () => {
    expect(crawlerOptionsOf(flagsOf('--headed'))).toEqual({ engine: 'browser', browser: { headless: false } });
    expect(crawlerOptionsOf(flagsOf('--browser'))).toEqual({ engine: 'browser', browser: {} });
  });

  it('use it only where needed with --auto, unless --browser says always', () => {
    expect(crawlerOptionsOf(flagsOf('--auto')).engine).toBe('auto');
    expect(crawlerOptionsOf(flagsOf('--auto', '--browser')).engine).toBe('browser');
  });

  it.each([
    ['--session', 's'],
    ['--wait-for', 'css:a'],
    ['--js', '1'],
    ['--screenshot', 'a.png'],
    ['--pdf', 'a.pdf'],
  ])('turn it on with %s, which no page without one could do', (flag, value) => {
    expect(crawlerOptionsOf(flagsOf(flag, value)).engine).toBe('browser');
    expect(Object.keys(pageConfigOf(flagsOf(flag, value)))).toHaveLength(1);
  });

  it('refuse to wait for what is neither a selector nor a script', () => {
    expect(() => pageConfigOf(flagsOf('--wait-for', 'main'))).toThrow('css:SELECTOR or js:EXPRESSION');
  });
});
